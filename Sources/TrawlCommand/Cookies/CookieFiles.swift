import Glibc
import Trawl
import TrawlHTTP
import TrawlPlatform
import TrawlSession

/// The files of `-b` and `-c`: a jar of the run's own, as in curl.
struct CookieFiles {
    /// The jar that fetches of such a run use.
    static let jar = RequestOptions.Cookies.Jar.memory("")

    /// What is read at the beginning. An empty name, and a file that is not there, is one without cookies.
    let inputs: [String]
    /// What is written at the end; nil is nothing.
    let output: String?
    /// Whether cookies without a time are left out of what is read.
    let dropsSessionCookies: Bool

    /// Whether the jar goes where responses, records or `-w` may go too.
    var writesStandardOutput: Bool { output.map(LocalPath.isStandardOutput) ?? false }

    /// Reads the files, before anything is fetched.
    ///
    /// Lines that are no cookies are nothing to speak of: a file of heads, as `-D` writes it, has many. Those with tabs
    /// are, since they were to be cookies. So is a cookie in heads without a domain: nobody says whom it is for, so it is
    /// not sent, as curl's manual has it. One whose time is over removes its like that was read before it, in the same
    /// file or another.
    func load(into coordinator: Coordinator, _ console: Console) throws(CommandError) {
        let now = WallClock.time()
        for file in inputs where !file.isEmpty && (file == "-" || access(file, F_OK) == 0) {
            let contents = CookieFile.read(try StandardStreams.readAll(file, limit: 1 << 28, option: "-b"), at: now)
            let homeless = contents.refused.count { $0.reason == .domain }
            let name = file == "-" ? "standard input" : file.terminalSafe
            if homeless > 0 {
                console.note("-b: \(name): cookies that are not sent, without a usable domain: \(homeless)")
            }
            let broken = contents.refused.filter { $0.hasTabs && $0.reason != .domain }
            if let first = broken.first {
                let reason = "first line \(first.line): \(first.reason.text)"
                console.note("-b: \(name): lines that are not taken: \(broken.count), \(reason)")
            }
            coordinator.cookies(in: Self.jar).insertInMemory(
                contents.cookies.filter { !dropsSessionCookies || $0.isPersistent }, at: now)
        }
    }

    /// Writes the jar. What cannot be written is told, and no reason for another exit status, as in curl.
    func save(from coordinator: Coordinator, _ console: Console) {
        guard let output else { return }
        var text: [UInt8] = []
        _ = NetscapeCookies.write(
            coordinator.cookies(in: Self.jar).contentInMemory(at: WallClock.time()), to: &text)
        do throws(CommandError) {
            try CookieFileWriter.write(text, to: output)
        } catch {
            console.failure("-c: \(error.message)")
        }
    }
}

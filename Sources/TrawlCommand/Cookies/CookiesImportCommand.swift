import ArgumentParser
import Trawl
import TrawlHTTP
import TrawlSession
import TrawlStore

/// `trawl cookies import FILE…`
struct CookiesImportCommand: CookiesSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Store the cookies of files: cookies.txt as curl and browsers write it, or JSON lines.",
        discussion: """
            Cookies whose time is over are left out. A line that is no cookie is left out, and the exit status is 1; the \
            first ten of a file are told.
            """)

    @Argument(help: ArgumentHelp("What to read; '-' is standard input.", valueName: "file"), completion: .file())
    var files: [String]

    @Flag(name: .customLong("junk-session-cookies"), help: "Leave out those that have no time.")
    var dropsSessionCookies = false

    @OptionGroup var jar: CookieJarArguments
    @OptionGroup var output: ListingArguments

    var makesStore: Bool { true }

    /// Lines that are told, of each file.
    private static let mostTold = 10

    func execute(on jar: CookiesAtHand) throws(CommandError) -> Int32 {
        var records: [CookieRecord] = []
        var isWhole = true
        for file in files {
            let name = file == "-" ? "standard input" : file.terminalSafe
            let text = try StandardStreams.readAll(file, limit: 1 << 28)
            // Neither form has one, and what does has many lines that are no cookies.
            if text.prefix(1024).contains(0) {
                throw CommandError("\(name): no file of cookies", status: ExitStatus.someFailed)
            }
            let contents = CookieFile.read(text, at: jar.now)
            records += contents.cookies
            if !contents.refused.isEmpty { isWhole = false }
            for (line, reason, _) in contents.refused.prefix(Self.mostTold) {
                StandardStreams.writeText("trawl: \(name):\(line): \(reason.text)\n", to: 2)
            }
            if contents.refused.count > Self.mostTold {
                let rest = contents.refused.count - Self.mostTold
                StandardStreams.writeText("trawl: \(name): and \(rest) more\n", to: 2)
            }
        }
        // What is over in a file removes its like in the files, and nothing that is stored.
        let stored = CookieRules.lasting(of: records, at: jar.now)
            .filter { !dropsSessionCookies || $0.isPersistent }
        try jar.with(()) { (jarOfStore) throws(StoreError) in try jarOfStore.set(stored, at: jar.now) }
        var lines = ResultLines()
        try lines.add(stored.count, "stored", asJSON: output.json)
        try lines.flush()
        return isWhole ? ExitStatus.success : ExitStatus.someFailed
    }
}

/// A file of cookies, in either form.
enum CookieFile {
    /// What it holds.
    static func read(_ text: [UInt8], at now: WallTime) -> NetscapeCookies.Contents {
        let isJSON = text.first { $0 != 0x20 && $0 != 0x09 && $0 != 0x0A && $0 != 0x0D } == UInt8(ascii: "{")
        guard isJSON else {
            return text.withUnsafeBytes { NetscapeCookies.read($0, suffixes: CookiesAtHand.suffixes, at: now) }
        }
        var contents = NetscapeCookies.Contents()
        var number = 0
        for line in text.split(separator: 0x0A, omittingEmptySubsequences: false) {
            number += 1
            if line.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) { continue }
            line.withUnsafeBytes { line in
                do throws(CookieObject.Failure) {
                    if let record = try CookieObject.read(line, at: now) {
                        contents.cookies.append(record)
                    }
                } catch {
                    switch error {
                    case .syntax: contents.refused.append((number, .syntax, false))
                    case .refused(let reason): contents.refused.append((number, reason, false))
                    }
                }
            }
        }
        return contents
    }
}

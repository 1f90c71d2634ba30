import ArgumentParser
import Trawl
import TrawlHTTP
import TrawlSession
import TrawlStore

/// `trawl cookies set URL LINE`
struct CookiesSetCommand: CookiesSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Store a cookie as if a server had set it.",
        discussion: """
            The line is what a server would say in Set-Cookie: 'name=value; Path=/; Max-Age=86400; Secure'. Without a \
            time the cookie is kept until it is removed. One that comes from an http URL does not take the place of a \
            secure one, nor hide it: then the exit status is 1.

            Others on this machine see the arguments of a process for the moment until it has begun: what nobody must see \
            is better read with '-'.
            """)

    @Argument(help: ArgumentHelp("Whose answer the line would stand in.", valueName: "url"))
    var url: String

    @Argument(help: ArgumentHelp("The cookie; '-' reads lines from standard input.", valueName: "line"))
    var line: String

    @OptionGroup var jar: CookieJarArguments

    var makesStore: Bool { true }

    func execute(on jar: CookiesAtHand) throws(CommandError) -> Int32 {
        let target = try WebURL.target(url)
        let bytes = line == "-" ? try StandardStreams.readAll("-", limit: 1 << 24) : Array(line.utf8)
        var cookies: [ReceivedCookie] = []
        for part in bytes.split(separator: 0x0A) {
            let line = part.last == 0x0D ? part.dropLast() : part
            cookies.append(try cookie(of: Array(line), from: target, at: jar.now))
        }
        if cookies.isEmpty {
            throw CommandError("the cookie is not taken: there is no line", status: ExitStatus.someFailed)
        }
        let refused = try jar.with(0) { (stored) throws(StoreError) in try stored.receive(cookies, at: jar.now) }
        if refused > 0 {
            let what = cookies.count == 1 ? "the cookie is" : "\(refused) of \(cookies.count) cookies are"
            throw CommandError("\(what) not taken: \(CookieRefusal.hidesSecure.text)", status: ExitStatus.someFailed)
        }
        return ExitStatus.success
    }

    private func cookie(
        of line: [UInt8], from target: TargetURI, at now: WallTime
    ) throws(CommandError) -> ReceivedCookie {
        do throws(CookieRefusal) {
            return try CookieTarget.with(target) { (target) throws(CookieRefusal) in
                try line.span.withUnsafeBytes { (line) throws(CookieRefusal) -> ReceivedCookie in
                    // As it stands in a head, too.
                    let line = FieldSyntax.trimmed(line)
                    return try CookieRules.receive(
                        SetCookie.value(ofLine: line) ?? line, from: target,
                        under: CookieConditions(suffixes: CookiesAtHand.suffixes), at: now)
                }
            }
        } catch {
            throw CommandError("the cookie is not taken: \(error.text)", status: ExitStatus.someFailed)
        }
    }
}

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
            time the cookie is kept until it is removed.

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
        var records: [CookieRecord] = []
        for part in bytes.split(separator: 0x0A) {
            let line = part.last == 0x0D ? part.dropLast() : part
            records.append(try record(of: Array(line), from: target, at: jar.now))
        }
        if records.isEmpty {
            throw CommandError("the cookie is not taken: there is no line", status: ExitStatus.someFailed)
        }
        try jar.with(()) { (stored) throws(StoreError) in try stored.set(records, at: jar.now) }
        return ExitStatus.success
    }

    private func record(
        of line: [UInt8], from target: TargetURI, at now: WallTime
    ) throws(CommandError) -> CookieRecord {
        do throws(CookieRefusal) {
            return try CookieTarget.with(target) { (target) throws(CookieRefusal) in
                try line.span.withUnsafeBytes { (line) throws(CookieRefusal) -> CookieRecord in
                    // As it stands in a head, too.
                    let line = FieldSyntax.trimmed(line)
                    return try CookieRules.receive(
                        SetCookie.value(ofLine: line) ?? line, from: target,
                        under: CookieConditions(suffixes: CookiesAtHand.suffixes), at: now
                    ).record
                }
            }
        } catch {
            throw CommandError("the cookie is not taken: \(error.text)", status: ExitStatus.someFailed)
        }
    }
}

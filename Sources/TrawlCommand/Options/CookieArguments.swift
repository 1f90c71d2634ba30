import ArgumentParser
import Trawl
import TrawlSession

/// Which cookies are sent and kept.
struct CookieArguments: ParsableArguments {
    @Option(
        name: [.customShort("b", allowingJoined: true), .customLong("cookie")], parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "Send these cookies, 'a=1; b=2'; or, without '=' or behind '@', read this file of cookies, and use it in place of "
                + "the store's jar. Repeatable.", valueName: "data|file"),
        completion: .file())
    var cookies: [String] = []

    @Option(
        name: [.customShort("c", allowingJoined: true), .customLong("cookie-jar")], parsing: .unconditional,
        help: ArgumentHelp(
            "Write all cookies to this file at the end, those of -b among them; '-' is standard output. Use no other jar.",
            valueName: "file"),
        completion: .file())
    var output: String?

    @Flag(name: .customLong("junk-session-cookies"), help: "Leave out the cookies of -b files that have no time.")
    var dropsSessionCookies = false

    @Option(
        name: .customLong("jar"), parsing: .unconditional,
        help: ArgumentHelp("Use the store's cookie jar of this name in place of the shared one.", valueName: "name"))
    var jar: String?

    @Flag(name: .customLong("no-cookies"), help: "Neither send nor keep cookies, but for those of -b.")
    var noCookies = false

    func validate() throws {
        if let jar, jar.isEmpty || jar.utf8.count > 255 { throw ValidationError("--jar: a name has 1 to 255 bytes") }
        let usesFiles = output != nil || cookies.contains { !Self.isText($0) }
        if [jar != nil, noCookies, usesFiles].filter({ $0 }).count > 1 {
            throw ValidationError("--jar, --no-cookies and the files of -b and -c exclude each other")
        }
    }

    /// Fills in what these options say.
    func apply(to options: inout RequestOptions) throws(CommandError) {
        for text in cookies where Self.isText(text) {
            do throws(CookieRefusal) {
                _ = try ManualCookie("", text)
            } catch {
                throw CommandError("-b: \(error.text)")
            }
            // As it stands, like curl.
            options.cookies.manual.append(RequestCookie("", text))
        }
        options.cookies.repeatsManual = true
        if noCookies { options.cookies.jar = .none }
        if let jar { options.cookies.jar = .named(jar) }
        if files != nil { options.cookies.jar = CookieFiles.jar }
    }

    /// The files, when there are any.
    var files: CookieFiles? {
        let inputs = cookies.filter { !Self.isText($0) }.map { $0.first == "@" ? String($0.dropFirst()) : $0 }
        return inputs.isEmpty && output == nil
            ? nil : CookieFiles(inputs: inputs, output: output, dropsSessionCookies: dropsSessionCookies)
    }

    /// As in curl, what has an equals sign is no file, and what begins with `@` is one all the same.
    private static func isText(_ argument: String) -> Bool { argument.contains("=") && argument.first != "@" }
}

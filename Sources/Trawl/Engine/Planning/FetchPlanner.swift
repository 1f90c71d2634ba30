import TrawlHTTP
import TrawlPlatform
import TrawlProtocol
import TrawlSession
import TrawlURL

/// Turns requests into plans: checks them, fills in what is generated, opens what has to be open.
///
/// Runs on the callers' threads, so that the supervisor has little to do for each fetch.
final class FetchPlanner: Sendable {
    private let userAgent: String
    private let roots: [String]
    /// A parser keeps one libcurl handle, so callers take turns; parsing does not block.
    private let urls = Guarded(URLParser())
    /// The generated lines of a request without lines of its own.
    private let plainFields: FieldLines
    /// The terms of the latest requests: most callers ask with the same few options again and again.
    private let latestTerms: Guarded<[KnownTerms]>
    private let shelf: CacheShelf
    private let cookies: CookieSettings
    private let askable: AuthenticationTerms.Askable
    private let netrcFiles = NetrcFiles()
    /// Hosts that take secure transport only.
    let secureHosts: SecureHosts
    private let usesHSTS: Bool

    /// Terms, the reading of the netrc file that they were made with, and their forms for hops. A form keeps its base, so
    /// that no base may keep its forms.
    private final class KnownTerms: Sendable {
        let terms: FetchTerms
        let netrc: UInt64?
        let forms = Guarded<[FetchTerms.Form: FetchTerms]>([:])
        private let texts: NonASCIITexts

        init(_ terms: FetchTerms, netrc: UInt64?) {
            self.terms = terms
            self.netrc = netrc
            texts = NonASCIITexts(terms.options)
        }

        /// Whether they are those of options, byte for byte.
        func areOf(_ options: RequestOptions) -> Bool {
            terms.options == options && texts == NonASCIITexts(options)
        }
    }

    private static let mostTerms = 4
    private static let mostForms = 1024

    init(configuration: Configuration, shelf: CacheShelf, cookies: CookieSettings, state: StateShelf) {
        self.shelf = shelf
        self.cookies = cookies
        askable = AuthenticationTerms.Askable(configuration)
        usesHSTS = configuration.usesHSTS
        secureHosts = SecureHosts(in: configuration.usesHSTS && configuration.hstsFile == nil ? state : nil)
        userAgent = configuration.userAgent ?? UserAgent.generated(locale: configuration.locale)
        roots = configuration.outputDirectories.map { $0.hasSuffix("/") ? $0 : $0 + "/" }
        plainFields = Self.withDefaults(FieldLines(), userAgent: userAgent, codings: Self.allCodings, omitting: [])
        latestTerms = Guarded([KnownTerms(FetchTerms(.default, shelf, cookies, askable), netrc: nil)])
    }

    /// The plan of a request.
    /// - Throws: What makes the request impossible, before anything is sent.
    func plan(_ request: Request, into destination: Destination, wantsEvents: Bool) throws(FetchError) -> FetchPlan {
        let request = try Self.resumable(request, into: destination)
        let given = try terms(request.options)
        let asked = try parse(request.url)
        let target = try target(for: asked, given)
        let terms = beginning(given, at: target)
        let method = try method(of: request, url: target.text)
        let fields = try fields(of: request, isResumable: destination.isResumable, url: target.text)
        try Self.checkHead(of: request, fields, url: target.text)
        let (sink, path) = try sink(for: destination, url: target.text)
        var fileOptions = Destination.FileOptions()
        if case .file(_, let given) = destination { fileOptions = given }
        // ASI-DL-08: what must not be done twice is not done in vain.
        if case .rooted = sink, let path, !method.isIdempotent, !fileOptions.namesFromDisposition,
            let obstacle = Self.obstacle(at: path, replaces: fileOptions.replaces)
        {
            throw FetchError.file(path, obstacle)
        }
        return FetchPlan(
            originalURL: asked.textWithFragment, target: target, method: method, fields: fields,
            body: try body(of: request, url: target.text), sink: sink, fileOptions: fileOptions, path: path,
            terms: terms, wantsEvents: wantsEvents)
    }

    /// What all requests that differ in their URL alone have in common.
    ///
    /// - Parameter sibling: One of a request with the same body: a memory file of that serves both.
    /// - Throws: What makes such a request impossible; its URL is not looked at.
    func template(
        of request: Request, files fileOptions: Destination.FileOptions, sharingBodyOf sibling: RequestTemplate? = nil
    ) throws(FetchError) -> RequestTemplate {
        let fields = try fields(of: request, url: nil)
        try Self.checkHead(of: request, fields, url: nil)
        let body: FetchPlan.Body
        if let sibling, case .file = sibling.body {
            body = sibling.body
        } else {
            body = try self.body(of: request, url: nil)
        }
        return RequestTemplate(
            method: try method(of: request, url: nil), fields: fields, body: body, terms: try terms(request.options),
            fileOptions: fileOptions)
    }

    private func terms(_ options: RequestOptions) throws(FetchError) -> FetchTerms {
        // A file may have changed.
        let netrc = try netrcFiles.reading(options.authentication.netrc)
        let latest = latestTerms.withLock { $0 }
        if let known = latest.first(where: { $0.netrc == netrc?.number && $0.areOf(options) }) {
            return known.terms
        }
        if let problem = CookieBinding.problem(of: options) { throw problem }
        if let problem = options.rangeProblem { throw FetchError(.badRequest, problem) }
        if let problem = options.trustProblem { throw FetchError(.badRequest, problem) }
        if let problem = options.caching.cache.problem { throw FetchError(.badRequest, problem) }
        let terms = FetchTerms(options, shelf, cookies, askable, netrc: netrc?.netrc)
        latestTerms.withLock { latest in
            if latest.count >= Self.mostTerms { latest.removeLast() }
            latest.insert(KnownTerms(terms, netrc: netrc?.number), at: 0)
        }
        return terms
    }

    /// Checks a URL a redirect led to, as one a caller gave.
    static func checkScheme(_ target: TargetURI, _ terms: FetchTerms) -> FetchError? {
        switch target.scheme {
        case "http" where terms.allowsHTTP, "https" where terms.allowsHTTPS: nil
        case "http", "https":
            FetchError(.unsupportedURL, "\(target.scheme) is not allowed here", url: target.text)
        case let scheme:
            FetchError(.unsupportedURL, "the scheme \(scheme.terminalSafe) is not supported", url: target.text)
        }
    }

    /// The target a URL names, checked as what a caller gave.
    func target(of url: String, _ terms: FetchTerms) throws(FetchError) -> TargetURI {
        try target(for: parse(url), terms)
    }

    private func parse(_ url: String) throws(FetchError) -> TargetURI {
        do throws(URLFailure) {
            return try urls.withLock { parser throws(URLFailure) in try parser.parse(url) }
        } catch {
            throw FetchError(error)
        }
    }

    /// The target that is fetched for the one that was asked for, checked as what a caller gave.
    private func target(for asked: TargetURI, _ terms: FetchTerms) throws(FetchError) -> TargetURI {
        var target = asked
        // Not beneath the lock: what is known of hosts may have to be read, and opened first.
        if secures(asked), let secure = TransportSecurity.upgrade(asked) {
            target = try parse(secure)
            // RFC 6797 §8.3: scheme and port alone are others; the text of a target is without these.
            (target.user, target.password) = (asked.user, asked.password)
        }
        if let refusal = Self.checkScheme(target, terms) { throw refusal }
        return target
    }

    /// The terms of a fetch's first hop.
    func beginning(_ terms: FetchTerms, at target: TargetURI) -> FetchTerms {
        hardened(form(terms.formForFirstHop(to: target), of: terms), at: target)
    }

    /// The terms of the hop a redirect leads to.
    func following(_ terms: FetchTerms, to target: TargetURI, from here: TargetURI) -> FetchTerms {
        hardened(form(terms.formForNextHop(to: target, from: here), of: terms), at: target)
    }

    /// The terms of a hop as they are by what is known of its host now: the certificate of one that takes secure
    /// transport only has to be right, whatever the caller or the program say (RFC 6797 §8.4, §12.1).
    func hardened(_ terms: FetchTerms, at target: TargetURI) -> FetchTerms {
        hardens(terms, at: target) ? form(terms.strictForm, of: terms) : terms
    }

    /// Whether other terms take the place of a hop's, by which the certificate of its host need not be right.
    func hardens(_ terms: FetchTerms, at target: TargetURI) -> Bool {
        terms.isLenient && usesHSTS && target.isHTTPS && secureHosts.isSecure(target.host)
    }

    /// The terms of a hop for whose origin a program chose a client certificate.
    func identified(_ terms: FetchTerms, by identity: ClientIdentity) -> FetchTerms {
        form(terms.form(identifiedBy: identity), of: terms)
    }

    /// The terms in another form, made once for all fetches that need it.
    ///
    /// - Parameter form: Nil is the one they have.
    private func form(_ form: FetchTerms.Form?, of terms: FetchTerms) -> FetchTerms {
        guard let form, form != terms.form else { return terms }
        let base = terms.base
        guard let known = latestTerms.withLock({ latest in latest.first { $0.terms === base } }) else {
            return terms.remade(in: form)
        }
        return known.forms.withLock { forms in
            if let made = forms[form] { return made }
            let made = terms.remade(in: form)
            // A program may choose another certificate for each origin.
            if forms.count >= Self.mostForms { forms.removeAll() }
            forms[form] = made
            return made
        }
    }

    /// Whether another target takes the place of an `http` one, since its host takes secure transport only.
    func secures(_ target: TargetURI) -> Bool {
        usesHSTS && !secureHosts.isEmpty && target.scheme == "http" && secureHosts.isSecure(target.host)
    }

    /// The target that takes the place of an `http` one whose host takes secure transport only, before anything else is
    /// done with it (RFC 6797 §8.3); nil when it stays.
    private func secured(_ target: TargetURI, _ urls: URLParser) throws(URLFailure) -> TargetURI? {
        guard secures(target), let text = TransportSecurity.upgrade(target) else { return nil }
        var secured = try urls.parse(text)
        // Scheme and port alone are others; the text of a target is without these.
        (secured.user, secured.password) = (target.user, target.password)
        return secured
    }

    /// The same for a hop that was planned before, checked as what a caller gave.
    func secured(_ target: TargetURI, _ terms: FetchTerms, _ urls: URLParser) throws(FetchError) -> TargetURI? {
        let secure: TargetURI?
        do throws(URLFailure) {
            secure = try secured(target, urls)
        } catch {
            throw FetchError(error)
        }
        if let secure, let refusal = Self.checkScheme(secure, terms) { throw refusal }
        return secure
    }

    /// Notes what a response's fields say about its host. It counts when its certificate was checked, all of it.
    func note(_ fields: FieldLines, from target: TargetURI, _ terms: FetchTerms) {
        guard usesHSTS, target.isHTTPS, fields.contains("Strict-Transport-Security") else { return }
        let tls = terms.options.tls
        guard
            let change = TransportSecurity.change(
                by: fields, from: target, isVerified: tls.verification == .full && tls.question == .never,
                at: WallClock.time())
        else { return }
        secureHosts.apply(change)
    }

    /// Where a redirect leads, when it may be followed.
    func redirectTarget(
        _ redirect: Redirect, from here: TargetURI, _ terms: FetchTerms, _ urls: URLParser
    ) throws(FetchError) -> TargetURI {
        var target: TargetURI
        do throws(URLFailure) {
            target = try urls.resolve(redirect.location, against: here)
            if let secure = try secured(target, urls) { target = secure }
        } catch {
            // CURLE_URL_MALFORMAT. What is a URL of a scheme nobody requests is something else.
            var cause: FetchError.SystemFailure? = .curl(3)
            if case .unsupportedScheme = error { cause = nil }
            throw FetchError(
                .redirectRefused, "the redirect leads to no usable URL: \(error.text)", cause: cause, url: here.text)
        }
        // User information of a `Location` is nobody's credentials.
        target.user = nil
        target.password = nil
        if let refusal = Self.checkScheme(target, terms) {
            throw FetchError(.redirectRefused, refusal.detail, url: here.text)
        }
        if here.isHTTPS, target.scheme == "http", !terms.options.redirects.allowsDowngrade {
            throw FetchError(.redirectRefused, "the redirect leads from https to http", url: here.text)
        }
        return target
    }

    /// As above, on a caller's thread.
    func redirectTarget(
        _ redirect: Redirect, from here: TargetURI, _ terms: FetchTerms
    ) throws(FetchError) -> TargetURI {
        // With a parser of its own, and not beneath the lock: what is known of hosts may have to be read.
        try redirectTarget(redirect, from: here, terms, URLParser())
    }

    /// What a reference in a response to a request stands for; nil when it is no URL.
    func resolve(_ reference: String, against target: TargetURI) -> TargetURI? {
        urls.withLock { try? $0.resolve(reference, against: target) }
    }

    private func method(of request: Request, url: String?) throws(FetchError) -> TrawlHTTP.Method {
        let method = try namedMethod(of: request)
        guard !request.body.isEmpty else { return method }
        // RFC 9110 §9.3.2: content of HEAD has no meaning; libcurl sends none.
        if method == .head { throw FetchError(.badRequest, "HEAD has no body", url: url) }
        // RFC 9110 §9.3.8
        if method == .trace { throw FetchError(.badRequest, "TRACE has no body", url: url) }
        if method == .get, !request.options.allowsBodyOnGET {
            throw FetchError(.badRequest, "GET with a body needs allowsBodyOnGET", url: url)
        }
        return method
    }

    private func namedMethod(of request: Request) throws(FetchError) -> TrawlHTTP.Method {
        let name = request.effectiveMethod.name
        guard let method = TrawlHTTP.Method(name) else {
            throw FetchError(.badRequest, "the method is not a token: \(name.prefix(64).description.terminalSafe)")
        }
        // RFC 9110 §9.3.6: CONNECT asks a proxy for a tunnel; its answer has no end.
        if method == .connect { throw FetchError(.badRequest, "CONNECT is not a method of a fetch") }
        return method
    }

    private func fields(
        of request: Request, isResumable: Bool = false, url: String?
    ) throws(FetchError) -> FieldLines {
        if let refused = request.fields.refused {
            throw FetchError(
                .badRequest, "the field line \(refused) has a name that is no token, or CR, LF or NUL in its value",
                url: url)
        }
        for name in ["Transfer-Encoding", "Upgrade", "TE"] where request.fields.lines.contains(name) {
            throw FetchError(.badRequest, "the field \(name) belongs to the transfer", url: url)
        }
        // RFC 9112 §3.2: one, also where all say the same. libcurl would leave the others out without a word.
        if request.fields.lines.values("Host").count > 1 {
            throw FetchError(.badRequest, "Host is given twice", url: url)
        }
        let options = request.options
        if let agent = options.userAgent, !FieldSyntax.isFieldValue(agent) {
            throw FetchError(.badRequest, "the user agent holds CR, LF or NUL", url: url)
        }
        if let policy = options.proxy, let problem = ProxyTerms.problem(policy) {
            throw FetchError(.badRequest, problem, url: url)
        }
        let codings = Self.codings(askedFor: request, isResumable: isResumable)
        if request.fields.isEmpty, codings == Self.allCodings, options.userAgent == nil, options.omittedFields.isEmpty {
            return plainFields
        }
        var lines = request.fields.lines
        if let length = lines.first("Content-Length") {
            guard length == String(request.body.bytes.count) else {
                throw FetchError(.badRequest, "Content-Length is not the length of the body", url: url)
            }
            lines.removeAll("Content-Length")
        }
        return Self.withDefaults(
            lines, userAgent: options.userAgent ?? userAgent, codings: codings, omitting: options.omittedFields)
    }

    /// The content codings that are undone.
    private static let allCodings = "gzip, deflate, br"

    /// The generated `Accept-Encoding` of a request; nil for none.
    ///
    /// A part of what is coded cannot be decoded (RFC 9110 §14.4), nor do such parts fit together (ASI-RES-07).
    private static func codings(askedFor request: Request, isResumable: Bool) -> String? {
        if isResumable { return "identity" }
        guard request.options.acceptsCompressedResponses else { return nil }
        return request.fields.lines.contains("Range") ? "identity" : allCodings
    }

    /// Refuses what is longer than a head that can be sent.
    private static func checkHead(of request: Request, _ fields: FieldLines, url: String?) throws(FetchError) {
        let body = request.body.bytes.count
        let length =
            (url?.utf8.count ?? 0) + fields.packed.count + (body <= WireProtocol.maximumInlineBody ? body : 0)
        guard length < WireProtocol.maximumRequestHead else {
            throw FetchError(.badRequest, "the head of the request is longer than 1 MiB", url: url)
        }
    }

    private static func withDefaults(
        _ lines: FieldLines, userAgent: String, codings: String?, omitting omitted: [String]
    ) -> FieldLines {
        var defaults = FieldLines()
        func add(_ name: String, _ value: String) {
            if lines.contains(name) || omitted.contains(where: { FieldSyntax.equalIgnoringCase($0, name) }) { return }
            // None is refused: generated values hold no control bytes, and a user agent was checked where it was given.
            try? defaults.append(name, value)
        }
        add("User-Agent", userAgent)
        add("Accept", "*/*")
        if let codings { add("Accept-Encoding", codings) }
        defaults.append(contentsOf: lines)
        // What would be generated only when the body goes out is switched off there, by a line without a value.
        if !lines.contains("Expect"), omitted.contains(where: { FieldSyntax.equalIgnoringCase($0, "Expect") }) {
            try? defaults.append("Expect", "")
        }
        return defaults
    }

    private func body(of request: Request, url: String?) throws(FetchError) -> FetchPlan.Body {
        if request.body.isEmpty { return .none }
        let bytes = request.body.bytes
        if bytes.count <= WireProtocol.maximumInlineBody { return .inline(bytes) }
        do throws(SystemError) {
            return .file(try MemoryBody(bytes))
        } catch {
            throw FetchError(.file, "the request's body: \(error)", cause: .system(error.errno), url: url)
        }
    }

    /// Where the body goes, and the path it was given; opens what is outside the output directories.
    func sink(for destination: Destination, url: String) throws(FetchError) -> (FetchPlan.Target, String?) {
        switch destination {
        case .memory: return (.memory, nil)
        case .discard: return (.discard, nil)
        case .stream: return (.stream, nil)
        case .file(let path, let options):
            guard !path.isEmpty, !path.utf8.contains(0) else {
                throw FetchError(.file, "the destination is not a path", url: url)
            }
            // What is kept has to be found again by this process.
            for (index, root) in (options.isResumable ? [] : roots).enumerated() where path.utf8.starts(with: root.utf8)
            {
                // By bytes, which are what names are.
                let relative = String(decoding: path.utf8.dropFirst(root.utf8.count), as: UTF8.self)
                guard Self.isMadeOfNames(relative) else {
                    // It may come from a server's names: who wants to leave the directory says where to.
                    if relative.utf8.split(separator: UInt8(ascii: "/")).contains(where: { $0.elementsEqual("..".utf8) }
                    ) {
                        throw FetchError(.file, "a path beneath an output directory leads up: \(path)", url: url)
                    }
                    continue
                }
                let collision = options.replaces ? FileCollision.replace : .fail
                return (.rooted(root: index, path: relative, collision: collision), path)
            }
            let opened = try OpenedDestination(
                path: path, replaces: options.replaces, resuming: options.resumeData)
            return (.opened(opened), path)
        }
    }

    /// Whether each part of a relative path is a name, and not empty, `.` or `..`: a worker takes no other.
    private static func isMadeOfNames(_ path: String) -> Bool {
        var (length, dots) = (0, 0)
        for byte in path.utf8 {
            if byte == UInt8(ascii: "/") {
                if length == dots, length <= 2 { return false }
                (length, dots) = (0, 0)
            } else {
                length += 1
                if byte == UInt8(ascii: ".") { dots += 1 }
            }
        }
        return length != dots || length > 2
    }
}

extension FetchError {
    /// What is wrong with a URL.
    init(_ failure: URLFailure) {
        switch failure {
        case .unsupportedScheme: self.init(.unsupportedURL, failure.text)
        case .noHost: self.init(.invalidURL, FetchError.noHost)
        case .empty, .tooLong, .malformed: self.init(.invalidURL, failure.text)
        }
    }
}

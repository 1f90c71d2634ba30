import TrawlSession

/// The texts of a value that are not ASCII throughout, byte for byte and with their places: nearly always none.
///
/// Swift takes texts for equal that Unicode has as equivalent, and with them the values that have them. Paths, names
/// and passwords are bytes: where one value stands for an equal one, these have to be the same as well.
struct NonASCIITexts: Sendable, Hashable {
    /// How many texts there are, ASCII or not.
    private var count: UInt32 = 0
    /// Of each its place among all, its bytes, and one that no text has.
    private var bytes: [UInt8] = []

    private mutating func add(_ text: String?) {
        count &+= 1
        guard let text, !text.utf8.allSatisfy({ $0 < 0x80 }) else { return }
        for shift: UInt32 in [0, 8, 16, 24] { bytes.append(UInt8(truncatingIfNeeded: count >> shift)) }
        bytes.append(contentsOf: text.utf8)
        bytes.append(0xFF)
    }

    private mutating func add(_ texts: [String]) {
        for text in texts { add(text) }
    }
}

extension NonASCIITexts {
    /// Those of options.
    init(_ options: RequestOptions) {
        self.init(options.proxy)
        add(options.transport)
        add(options.tls)
        if case .at(let directory) = options.caching.cache { add(directory) }
        add(options.cookies)
        add(options.authentication)
        add(options.defaultCharset)
        add(options.userAgent)
        add(options.omittedFields)
        add(options.bandwidthShare)
    }

    /// Those of a request and of where its body goes, but for its URL and its path.
    init(_ request: Request, _ destination: Destination) {
        self.init(request.options)
        add(request.method?.name)
        add(request.fields.refused)
        guard case .file(_, let files) = destination, let data = files.resumeData else { return }
        add([data.url, data.destination, data.partPath, data.validator])
    }

    /// Those of a policy; none has none.
    init(_ policy: ProxyPolicy?) {
        self.init()
        guard let policy else { return }
        for proxy in [policy.http, policy.https] {
            add(proxy?.value.host)
            add(proxy?.value.credentials)
        }
        add(policy.exceptions)
        add(policy.script)
        add(policy.credentials)
        add(policy.fields.refused)
    }

    /// Those of a client certificate.
    init(_ identity: ClientIdentity) {
        self.init()
        add(identity)
    }

    private mutating func add(_ transport: RequestOptions.Transport) {
        add(transport.resolve)
        add(transport.connectTo)
        add(transport.proxyCAFile)
        add(transport.interface)
    }

    private mutating func add(_ tls: RequestOptions.TLS) {
        add(tls.caFile)
        add(tls.caDirectory)
        add(tls.pins)
        add(tls.pinFile)
        add(tls.ciphers)
        add(tls.ciphers13)
        if let identity = tls.identity { add(identity) }
        // In an order that two dictionaries have in common.
        for (host, identity) in tls.identities.sorted(by: { $0.key < $1.key }) {
            add(host)
            add(identity)
        }
    }

    private mutating func add(_ identity: ClientIdentity) {
        add(identity.file)
        add(identity.keyFile)
    }

    private mutating func add(_ cookies: RequestOptions.Cookies) {
        switch cookies.jar {
        case .named(let name), .memory(let name): add(name)
        case .shared, .none: break
        }
        add(cookies.mainDocumentURL)
        for cookie in cookies.manual {
            add(cookie.name)
            add(cookie.value)
        }
    }

    private mutating func add(_ authentication: RequestOptions.Authentication) {
        add(authentication.credential?.credentials)
        switch authentication.netrc {
        case .file(let path), .optional(let path): add(path)
        case .none: break
        }
    }

    private mutating func add(_ credentials: Credentials?) {
        switch credentials?.kind {
        case .password(let user, let password, let domain):
            add(user)
            add(password.revealed)
            add(domain)
        case .bearer(let token): add(token.revealed)
        case .ticket, nil: break
        }
    }
}

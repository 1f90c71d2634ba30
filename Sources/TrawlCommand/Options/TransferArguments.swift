import ArgumentParser
import Trawl

/// How it is fetched: redirects, times, sizes, versions, addresses.
struct TransferArguments: ParsableArguments {
    @Flag(
        name: [.customShort("L"), .customLong("location")],
        help: "Follow redirects; batch and pipe always do, unless a request says otherwise.")
    var location = false

    @Flag(name: .customLong("allow-downgrade"), help: "Follow redirects from https to http too.")
    var allowsDowngrade = false

    @Option(
        name: .customLong("max-redirs"), parsing: .unconditional,
        help: ArgumentHelp("Follow at most so many redirects; -1 is 1000. Default 20.", valueName: "count"))
    var maximumRedirectsText: String?

    @Option(
        name: [.customShort("m", allowingJoined: true), .customLong("max-time")], parsing: .unconditional,
        help: ArgumentHelp(
            "Give up on a URL after so long, from when its turn has come; redirects included.", valueName: "seconds"))
    var maximumTimeText: String?

    @Option(
        name: .customLong("connect-timeout"), parsing: .unconditional,
        help: ArgumentHelp(
            "Give up when no connection stands after so long. Default 30, 0 is never.", valueName: "seconds"))
    var connectTimeoutText: String?

    @Option(
        name: .customLong("read-timeout"), parsing: .unconditional,
        help: ArgumentHelp("Give up when no byte moved for so long. Default 60, 0 is never.", valueName: "seconds"))
    var readTimeoutText: String?

    @Option(
        name: .customLong("first-byte-timeout"), parsing: .unconditional,
        help: ArgumentHelp(
            "Give up when no byte of the response came for so long after the request went out. Default never.",
            valueName: "seconds"))
    var firstByteTimeoutText: String?

    @Option(
        name: .customLong("max-filesize"), parsing: .unconditional,
        help: ArgumentHelp("Refuse bodies longer than this; k, M, G and T are known.", valueName: "bytes"))
    var maximumSizeText: String?

    @Option(
        name: .customLong("proto"), parsing: .unconditional,
        help: ArgumentHelp("Allow these schemes: =https, -http, all.", valueName: "list"))
    var protocolsText: String?

    @Flag(exclusivity: .chooseLast)
    var version: HTTPVersionChoice?

    @Flag(exclusivity: .chooseLast)
    var family: AddressFamilyChoice?

    @Option(
        name: .customLong("interface"), parsing: .unconditional,
        help: ArgumentHelp("Connect from this interface, address or host.", valueName: "name"))
    var interface: String?

    @OptionGroup var routes: RouteArguments

    // As in PoolArguments.
    var maximumRedirects: BoundedInteger<RedirectCount>? {
        maximumRedirectsText.flatMap { BoundedInteger<RedirectCount>(argument: $0) }
    }
    var maximumTime: SecondsArgument? { maximumTimeText.flatMap { SecondsArgument(argument: $0) } }
    var connectTimeout: SecondsArgument? { connectTimeoutText.flatMap { SecondsArgument(argument: $0) } }
    var readTimeout: SecondsArgument? { readTimeoutText.flatMap { SecondsArgument(argument: $0) } }
    var firstByteTimeout: SecondsArgument? { firstByteTimeoutText.flatMap { SecondsArgument(argument: $0) } }
    var maximumSize: ByteCountArgument? { maximumSizeText.flatMap { ByteCountArgument(argument: $0) } }
    var protocols: ProtocolList? { protocolsText.flatMap { ProtocolList(argument: $0) } }

    func validate() throws {
        try OptionText.check(maximumRedirectsText, "--max-redirs <count>", within: RedirectCount.self)
        try OptionText.checkSeconds(maximumTimeText, "-m <seconds>")
        try OptionText.checkSeconds(connectTimeoutText, "--connect-timeout <seconds>")
        try OptionText.checkSeconds(readTimeoutText, "--read-timeout <seconds>")
        try OptionText.checkSeconds(firstByteTimeoutText, "--first-byte-timeout <seconds>")
        try OptionText.checkBytes(maximumSizeText, "--max-filesize <bytes>")
        try OptionText.check(protocolsText, "--proto <list>", "schemes with commas, such as =https, -http or all") {
            ProtocolList(argument: $0) != nil
        }
    }

    /// Fills in what these options say.
    func apply(to options: inout RequestOptions) {
        options.redirects.mode = location ? .standard : .manual
        options.redirects.allowsDowngrade = allowsDowngrade
        if let count = maximumRedirects?.value { options.redirects.limit = count < 0 ? 1000 : count }
        if let maximumTime { options.timeLimits.exchange = maximumTime.duration }
        if let connectTimeout { options.timeLimits.connect = connectTimeout.duration }
        if let readTimeout { options.timeLimits.inactivity = readTimeout.duration }
        if let firstByteTimeout { options.timeLimits.firstByte = firstByteTimeout.duration }
        if let maximumSize, maximumSize.bytes > 0 { options.sizeLimits.bodyBytes = maximumSize.bytes }
        if let protocols {
            options.transport.allowsHTTP = protocols.allowsHTTP
            options.transport.allowsHTTPS = protocols.allowsHTTPS
        }
        switch version {
        case .http1_0: options.transport.version = .http1_0
        case .http2: options.transport.version = .http2
        case .http2PriorKnowledge: options.transport.version = .http2PriorKnowledge
        case .http1_1, nil: options.transport.version = .http1_1
        }
        switch family {
        case .ipv4: options.transport.addressFamily = .ipv4
        case .ipv6: options.transport.addressFamily = .ipv6
        case nil: options.transport.addressFamily = .any
        }
        options.transport.interface = interface
        routes.apply(to: &options.transport)
    }
}

/// `--http1.1` and its like.
enum HTTPVersionChoice: String, EnumerableFlag {
    case http1_0, http1_1, http2, http2PriorKnowledge

    static func name(for value: HTTPVersionChoice) -> NameSpecification {
        switch value {
        case .http1_0: [.customShort("0"), .customLong("http1.0")]
        case .http1_1: .customLong("http1.1")
        case .http2: .customLong("http2")
        case .http2PriorKnowledge: .customLong("http2-prior-knowledge")
        }
    }

    static func help(for value: HTTPVersionChoice) -> ArgumentHelp? {
        switch value {
        case .http1_0: "Use HTTP/1.0."
        case .http1_1: "Use HTTP/1.1; the default."
        case .http2: "Use HTTP/2 when a TLS server agrees."
        case .http2PriorKnowledge: "Use HTTP/2 without asking."
        }
    }
}

/// `-4` and `-6`.
enum AddressFamilyChoice: String, EnumerableFlag {
    case ipv4, ipv6

    static func name(for value: AddressFamilyChoice) -> NameSpecification {
        switch value {
        case .ipv4: [.customShort("4"), .customLong("ipv4")]
        case .ipv6: [.customShort("6"), .customLong("ipv6")]
        }
    }

    static func help(for value: AddressFamilyChoice) -> ArgumentHelp? {
        switch value {
        case .ipv4: "Use IPv4 addresses alone."
        case .ipv6: "Use IPv6 addresses alone."
        }
    }
}

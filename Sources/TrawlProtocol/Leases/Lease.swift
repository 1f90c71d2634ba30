package import TrawlHTTP

/// The right of one worker to do one hop once.
package struct Lease: Sendable, Hashable {
    /// Unique for the life of the coordinator; names the attempt too.
    package var id: UInt64
    /// The number of a profile sent before.
    package var profile: UInt32
    /// Which progress words of the worker's part of the shared segment belong to this lease.
    package var progressIndex: UInt16
    /// The request method.
    package var method: Method
    /// Absolute, without user information and fragment.
    package var url: String
    /// How many bytes of the URL name the origin that its fields were chosen for: scheme and authority.
    package var originLength: UInt16
    /// What goes on the wire beside the fields of framing, in this order.
    package var fields: FieldLines
    /// What is sent.
    package var body: RequestBody
    /// Where the body of the response goes.
    package var sink: BodySink
    /// Which heads are wanted before the end.
    package var heads: HeadDelivery
    /// Milliseconds for the whole hop; 0 is no limit.
    package var timeout: UInt64
    /// What is done and left alone on the way.
    package var options: LeaseOptions
    /// What the hop may do with the profile's cache; empty is nothing at all.
    package var cache: CacheAccess
    /// The limits of bandwidth it is under.
    package var limits: LimitNumbers
    /// The proxy the hop goes through; nil is none.
    package var proxy: ProxyRoute?
    /// Whether nobody can be asked about the server's certificate: then one that the rules have nothing against is good.
    package var asksNobody: Bool
    /// The certificate of the server that needs no answer any more.
    package var trusted: DecidedCertificate
    /// Who the connection is opened as; nil for nobody.
    package var login: ConnectionLogin?
    /// Stands for what `Authorization` says, to the cache, where that differs each time; empty where it does not.
    package var identity: [UInt8]
    /// What its connection counts for; nil where connections are not limited.
    package var counted: CountedOrigin?
    /// How many bytes of the body have come already, of which the request asks for the rest: a response of 206 goes on
    /// behind them; 0 is none. Of a body kept in memory or written beneath an output root they are in the file whose
    /// descriptor comes last.
    package var part: UInt64

    /// How many descriptors travel with the frame: the request body's first, then the sink's, then the part's.
    package var descriptorCount: Int {
        var count = 0
        if case .descriptor = body { count += 1 }
        if case .descriptor = sink { count += 1 }
        if part > 0, sink.isWorkersFile { count += 1 }
        return count
    }

    func write(to writer: inout WireWriter) {
        writer.writeBlock(Self.numbersLength) { block in
            block.store(id, at: 0)
            block.store(profile, at: 8)
            block.store(progressIndex, at: 12)
            block.store(heads.rawValue, at: 14)
            block.store(options.rawValue | (part > 0 ? Self.partBit : 0), at: 15)
            block.store(timeout, at: 19)
            block.store(originLength, at: 27)
        }
        writer.write(method.name)
        writer.write(url)
        writer.write(fields)
        switch body {
        case .none:
            writer.write(UInt8(0))
        case .inline(let bytes):
            writer.write(UInt8(1))
            writer.write(bytes)
        case .descriptor(let length):
            writer.write(UInt8(2))
            writer.write(length)
        }
        sink.write(to: &writer)
        writer.write(identity)
        ConnectionLogin.write(login, to: &writer)
        writer.write(cache.rawValue)
        writer.write(limits.packed)
        if let proxy { proxy.write(to: &writer) } else { writer.write(UInt8(0)) }
        writer.write(asksNobody)
        trusted.write(to: &writer)
        CountedOrigin.write(counted, to: &writer)
        if part > 0 { writer.write(part) }
    }

    /// Reads a lease, and makes it in one go: what is changed after it was made is copied, as is what an initializer
    /// made that can fail half-way.
    static func read(from reader: inout WireReader, knownFields: FieldLines) throws(FrameError) -> Lease {
        let block = try reader.block(numbersLength)
        guard let heads = HeadDelivery(rawValue: block[14]) else { throw .invalid(.heads) }
        let bits = block.integer(at: 15, as: UInt32.self)
        guard bits & ~(LeaseOptions.all.rawValue | partBit) == 0 else { throw .reservedBits }
        let method = try reader.method()
        let url = try reader.text()
        let fields = try reader.fields(known: knownFields)
        let body: RequestBody
        switch try reader.byte() {
        case 0: body = .none
        case 1:
            let bytes = try reader.data()
            guard bytes.count <= WireProtocol.maximumInlineBody else { throw .invalid(.body) }
            body = .inline(bytes)
        case 2: body = .descriptor(length: try reader.uint64())
        default: throw .invalid(.body)
        }
        let sink = try BodySink(from: &reader)
        let identity = try reader.data()
        let login = try ConnectionLogin.read(from: &reader)
        let cache = CacheAccess(rawValue: try reader.byte())
        guard cache.isSubset(of: .all) else { throw .invalid(.cache) }
        let limits = try LimitNumbers(from: &reader)
        let proxyKind = try reader.byte()
        let proxy = proxyKind == 0 ? nil : try ProxyRoute(kind: proxyKind, from: &reader)
        let asksNobody = try reader.bool()
        let trusted = try DecidedCertificate(from: &reader)
        let counted = try CountedOrigin.read(from: &reader)
        let hasPart = bits & partBit != 0
        let part = hasPart ? try reader.uint64() : 0
        guard hasPart == (part > 0) else { throw .invalid(.body) }
        return Lease(
            id: block.integer(at: 0, as: UInt64.self), profile: block.integer(at: 8, as: UInt32.self),
            progressIndex: block.integer(at: 12, as: UInt16.self), method: method, url: url,
            originLength: block.integer(at: 27, as: UInt16.self), fields: fields, body: body, sink: sink, heads: heads,
            timeout: block.integer(at: 19, as: UInt64.self), options: LeaseOptions(rawValue: bits & ~partBit),
            cache: cache, limits: limits, proxy: proxy, asksNobody: asksNobody, trusted: trusted, login: login,
            identity: identity, counted: counted, part: part)
    }

    /// Bytes of everything before the method.
    private static let numbersLength = 29

    /// Beside the options in a frame: that a part follows.
    private static let partBit: UInt32 = 4096
}

extension Lease {
    /// A lease in all its parts. (Not an initializer: that would copy it once more, as would changing it later.)
    package static func granting(
        id: UInt64, profile: UInt32, progressIndex: UInt16, method: consuming Method, url: consuming String,
        originLength: UInt16, fields: consuming FieldLines, body: consuming RequestBody, sink: consuming BodySink,
        heads: HeadDelivery, timeout: UInt64, options: LeaseOptions, cache: CacheAccess, limits: LimitNumbers,
        proxy: consuming ProxyRoute?, asksNobody: Bool, trusted: consuming DecidedCertificate,
        login: consuming ConnectionLogin?, identity: consuming [UInt8], counted: consuming CountedOrigin?, part: UInt64
    ) -> Lease {
        Lease(
            id: id, profile: profile, progressIndex: progressIndex, method: method, url: url,
            originLength: originLength, fields: fields, body: body, sink: sink, heads: heads, timeout: timeout,
            options: options, cache: cache, limits: limits, proxy: proxy, asksNobody: asksNobody, trusted: trusted,
            login: login, identity: identity, counted: counted, part: part)
    }

    /// A lease of a request without a body, kept in memory.
    ///
    /// - Parameter originLength: How many bytes of the URL name its origin; nil is those before its third slash.
    package init(
        id: UInt64, profile: UInt32, progressIndex: UInt16, method: Method, url: String, originLength: Int? = nil,
        fields: FieldLines
    ) {
        self.init(
            id: id, profile: profile, progressIndex: progressIndex, method: method, url: url,
            originLength: UInt16(clamping: originLength ?? Self.thirdSlash(in: url)), fields: fields, body: .none,
            sink: .memory, heads: .withEnd, timeout: 0, options: [.mayReuseConnection, .mayKeepConnection], cache: [],
            limits: .unlimited, proxy: nil, asksNobody: false, trusted: .undecided, login: nil, identity: [],
            counted: nil, part: 0)
    }

    private static func thirdSlash(in url: String) -> Int {
        var (slashes, length) = (0, 0)
        for byte in url.utf8 {
            if byte == UInt8(ascii: "/") { slashes += 1 }
            if slashes == 3 { break }
            length += 1
        }
        return length
    }
}

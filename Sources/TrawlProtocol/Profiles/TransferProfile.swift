/// How transfers are made: everything that many leases have in common.
///
/// A profile is sent once to each worker and then named by its number, so that a lease stays small and a worker sets
/// options of an easy handle only when the profile changes.
package struct TransferProfile: Sendable, Hashable {
    /// Which protocol version is asked for.
    package enum Version: UInt8, Sendable, Hashable {
        /// HTTP/1.0.
        case http1_0
        /// HTTP/1.1.
        case http1_1
        /// HTTP/2 over TLS when the server agrees, else HTTP/1.1.
        case http2
        /// HTTP/2 without asking, also in clear.
        case http2PriorKnowledge
    }

    /// What happens to content codings.
    package enum Decoding: UInt8, Sendable, Hashable {
        /// Decoded as the body arrives.
        case streaming
        /// Left as received.
        case off
    }

    /// Which address family is used to connect.
    package enum AddressFamily: UInt8, Sendable, Hashable {
        case any, ipv4, ipv6
    }

    /// Which protocol version is asked for.
    package var version = Version.http1_1
    /// What happens to content codings.
    package var decoding = Decoding.streaming
    /// Which address family is used to connect.
    package var addressFamily = AddressFamily.any
    /// Milliseconds until a connection with TLS must stand; 0 is no limit.
    package var connectTimeout: UInt32 = 30_000
    /// Milliseconds without any byte in either direction; 0 is no limit.
    package var inactivityTimeout: UInt32 = 60_000
    /// Milliseconds from the end of a request to the first byte of its response; 0 is no limit.
    package var firstByteTimeout: UInt32 = 0
    /// Seconds an idle connection is kept.
    package var idleLifetime: UInt32 = 60
    /// Bytes of a header section, interim heads included; at most `WireProtocol.maximumHead`.
    package var headBytes: UInt32 = 300 << 10
    /// Field lines of one header section.
    package var headFields: UInt32 = 500
    /// Bytes of a decoded body; the largest number is no limit.
    package var bodyBytes = UInt64.max
    /// Bytes of a body kept in memory; above it the fetch fails as too large.
    package var memoryBytes: UInt64 = 1 << 30
    /// Content codings applied one over the other.
    package var codingLayers: UInt8 = 3
    /// Decoded bytes for one encoded byte, beyond a floor of 8 MiB; 0 is no limit.
    package var codingRatio: UInt32 = 250
    /// Bytes libcurl reads at a time; 0 lets the worker choose by how many transfers it runs.
    package var receiveBuffer: UInt32 = 0
    /// Whether `http` URLs are fetched.
    package var allowsHTTP = true
    /// Whether `https` URLs are fetched.
    package var allowsHTTPS = true
    /// Whom is trusted, and who we are.
    package var tls = TLSTerms()
    /// `host:port:address` entries that replace name resolution.
    package var resolve: [String] = []
    /// `host:port:host:port` entries that replace the place connected to.
    package var connectTo: [String] = []
    /// Whether the certificate of an `https` proxy must be trusted and name it.
    package var verifiesProxy = true
    /// A file of certificates trusted for `https` proxies, in PEM form; empty is the system's.
    package var proxyCAFile = ""
    /// The local interface or address; empty is any.
    package var interface = ""
    /// Where responses are kept; nil is nowhere.
    package var cache: CacheTerms?
    /// Where cookies go; nil is nowhere.
    package var state: StateTerms?

    /// A profile of the defaults.
    package init() {}

    /// What a worker is told of it: the same bytes for the same profile alone, where `==` takes texts for equal that
    /// Unicode has as equivalent.
    package var bytes: [UInt8] {
        var writer = WireWriter()
        write(to: &writer)
        return writer.bytes
    }

    func write(to writer: inout WireWriter) {
        writer.write(version.rawValue)
        writer.write(decoding.rawValue)
        writer.write(addressFamily.rawValue)
        writer.write(connectTimeout)
        writer.write(inactivityTimeout)
        writer.write(firstByteTimeout)
        writer.write(idleLifetime)
        writer.write(headBytes)
        writer.write(headFields)
        writer.write(bodyBytes)
        writer.write(memoryBytes)
        writer.write(codingLayers)
        writer.write(codingRatio)
        writer.write(receiveBuffer)
        writer.write(allowsHTTP)
        writer.write(allowsHTTPS)
        tls.write(to: &writer)
        writer.write(verifiesProxy)
        writer.write(proxyCAFile)
        writer.write(interface)
        writer.write(resolve)
        writer.write(connectTo)
        writer.write(cache != nil)
        cache?.write(to: &writer)
        writer.write(state != nil)
        state?.write(to: &writer)
    }

    init(from reader: inout WireReader) throws(FrameError) {
        guard let version = Version(rawValue: try reader.byte()), let decoding = Decoding(rawValue: try reader.byte()),
            let family = AddressFamily(rawValue: try reader.byte())
        else { throw .invalid(.version) }
        self.version = version
        self.decoding = decoding
        addressFamily = family
        connectTimeout = try reader.uint32()
        inactivityTimeout = try reader.uint32()
        firstByteTimeout = try reader.uint32()
        idleLifetime = try reader.uint32()
        headBytes = try reader.uint32()
        guard headBytes <= WireProtocol.maximumHead else { throw .invalid(.length) }
        headFields = try reader.uint32()
        bodyBytes = try reader.uint64()
        memoryBytes = try reader.uint64()
        codingLayers = try reader.byte()
        codingRatio = try reader.uint32()
        receiveBuffer = try reader.uint32()
        allowsHTTP = try reader.bool()
        allowsHTTPS = try reader.bool()
        tls = try TLSTerms(from: &reader)
        verifiesProxy = try reader.bool()
        proxyCAFile = try reader.text()
        interface = try reader.text()
        resolve = try reader.texts()
        connectTo = try reader.texts()
        if try reader.bool() { cache = try CacheTerms(from: &reader) }
        if try reader.bool() { state = try StateTerms(from: &reader) }
    }
}

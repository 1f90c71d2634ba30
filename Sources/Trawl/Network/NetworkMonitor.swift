/// Watches which way this machine reaches the rest of the world.
///
/// It asks the kernel for the route to an address outside, and again whenever links, addresses or routes change.
/// Nothing is sent, unless there is a probe. The monitor lives as long as it, or one of its sequences, is held.
///
/// ```swift
/// for await path in NetworkMonitor().paths {
///     print(path.status)
/// }
/// ```
///
/// - Source: ASIHTTPRequest's and AFHTTPClient's reachability (ASI-MISC-03, AFC-18).
public final class NetworkMonitor: Sendable {
    private let watch: NetworkWatch

    /// Begins to watch. Where the system does not tell, as in some sandboxes, the status stays
    /// ``NetworkPath/Status/unknown``; where it does not for a moment, for want of descriptors say, it does so until
    /// somebody asks again, by ``path``, ``paths`` or ``check()``.
    public init(_ settings: Settings = Settings()) {
        watch = NetworkWatch(settings)
    }

    deinit { watch.stop() }

    /// What is known now.
    public var path: NetworkPath { watch.path }

    /// What is known now, and each change. Any number of sequences may be asked for; who is slow gets the latest. None
    /// ends before who reads it does.
    public var paths: AsyncStream<NetworkPath> {
        let (stream, continuation) = AsyncStream.makeStream(of: NetworkPath.self, bufferingPolicy: .bufferingNewest(1))
        let number = watch.observe { continuation.yield($0) }
        // Holds the monitor until nobody can ask for more.
        continuation.onTermination = { [self] _ in watch.forget(number) }
        return stream
    }

    /// Looks again, and probes again where there is a probe. What comes of it is among ``paths`` if it is something
    /// new.
    public func check() { watch.check() }

    /// How it is found out what kind of network there is.
    public struct Settings: Sendable, Hashable {
        /// Interfaces on which bytes cost money; one that ends with `*` is the beginning of a name. Default `wwan*` and
        /// `ppp*`.
        public var meteredInterfaces = ["wwan*", "ppp*"]
        /// A connection that is tried whenever the way has changed, and again as long as it fails; nil is none, which is
        /// the default.
        public var probe: Probe?

        /// The defaults.
        public init() {}
    }

    /// A connection that is made, and closed at once, to find out whether a way leads anywhere. Until it is known,
    /// the status is that of before, ``NetworkPath/Status/unknown`` at first.
    public struct Probe: Sendable, Hashable {
        /// A name or an address.
        public var host: String
        /// A port that takes TCP connections.
        public var port: UInt16
        /// How long name and connection may take together. Default 5 s.
        public var timeout = Duration.seconds(5)

        /// A port of a host.
        public init(host: String, port: UInt16) {
            self.host = host
            self.port = port
        }
    }
}

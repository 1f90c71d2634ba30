import TrawlHTTP
import TrawlProtocol

extension RequestOptions {
    /// What a worker needs to know of the options.
    var profile: TransferProfile {
        var profile = TransferProfile()
        profile.version =
            switch transport.version {
            case .http1_0: .http1_0
            case .http1_1: .http1_1
            case .http2: .http2
            case .http2PriorKnowledge: .http2PriorKnowledge
            }
        profile.decoding = contentDecoding == .streaming ? .streaming : .off
        profile.addressFamily =
            switch transport.addressFamily {
            case .any: .any
            case .ipv4: .ipv4
            case .ipv6: .ipv6
            }
        profile.connectTimeout = timeLimits.connect.clampedMilliseconds
        profile.inactivityTimeout = timeLimits.inactivity.clampedMilliseconds
        profile.firstByteTimeout = timeLimits.firstByte.clampedMilliseconds
        profile.idleLifetime = transport.idleLifetime.clampedSeconds
        profile.receiveBuffer = transport.receiveBuffer.map { UInt32(clamping: max($0, 1)) } ?? 0
        profile.headBytes = UInt32(clamping: min(sizeLimits.headBytes, WireProtocol.maximumHead))
        profile.headFields = UInt32(clamping: sizeLimits.headFields)
        profile.bodyBytes = sizeLimits.bodyBytes ?? .max
        profile.memoryBytes = sizeLimits.memoryBytes
        profile.codingLayers = UInt8(clamping: sizeLimits.codingLayers)
        profile.codingRatio = UInt32(clamping: sizeLimits.codingRatio)
        profile.allowsHTTP = transport.allowsHTTP
        profile.allowsHTTPS = transport.allowsHTTPS
        profile.tls = tls.terms
        profile.verifiesProxy = transport.verifiesProxy
        profile.proxyCAFile = transport.proxyCAFile ?? ""
        profile.resolve = transport.resolve
        profile.connectTo = transport.connectTo
        profile.interface = transport.interface ?? ""
        return profile
    }
}

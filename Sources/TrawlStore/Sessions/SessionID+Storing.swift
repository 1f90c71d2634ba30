package import TrawlHTTP

extension SessionID {
    /// Bytes of an identifier in a store: its halves as they lie in memory.
    static let size = 16

    /// A new one.
    package static func make() -> SessionID {
        SessionID(.random(in: 1...(.max)), .random(in: .min ... .max))
    }
}

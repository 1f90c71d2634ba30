import CTrawlCrypto

/// A key of 32 bytes that seals and opens. Never printed; overwritten when the last copy goes.
package final class SealingKey: Sendable {
    private static let size = 32
    private static let nonceSize = 12
    private static let tagSize = 16
    /// How many bytes sealing adds.
    package static let overhead = nonceSize + tagSize

    // Safe: written before anybody else has it, and again when nobody has.
    nonisolated(unsafe) private let bytes: UnsafeMutableRawBufferPointer

    /// The costs a key may have.
    package static let costs: ClosedRange<UInt8> = 10...22
    /// Whether libcrypto is there, without which nothing is sealed or opened.
    package static var isAvailable: Bool { ccrypto_is_loaded() != 0 }

    /// The key that a passphrase stands for, by scrypt (RFC 7914); nil when libcrypto is missing, or has no memory for
    /// it.
    ///
    /// - Parameter cost: The exponent of N; 15 takes a tenth of a second and 32 MiB. None outside of `costs`.
    package init?(passphrase: String, salt: [UInt8], cost: UInt8) {
        guard Self.costs.contains(cost) else { return nil }
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.size, alignment: 8)
        var passphrase = passphrase
        let status = passphrase.withUTF8 { text in
            ccrypto_scrypt(
                text.baseAddress, text.count, salt, salt.count, 1 << UInt64(cost), 8, 1,
                bytes.baseAddress?.assumingMemoryBound(to: UInt8.self))
        }
        self.bytes = bytes
        if status != 0 { return nil }
    }

    /// A key of chance, for what this process alone is to open.
    package init() {
        bytes = .allocate(byteCount: Self.size, alignment: 8)
        var random = SystemRandomNumberGenerator()
        for index in bytes.indices { bytes[index] = UInt8.random(in: 0...255, using: &random) }
    }

    deinit {
        ccrypto_wipe(bytes.baseAddress, bytes.count)
        bytes.deallocate()
    }

    /// Bytes that nobody reads or changes without the key: a random nonce, the sealed bytes, a tag (RFC 8439).
    ///
    /// - Parameter context: What they belong to; they open with the same alone.
    package func seal(_ plain: UnsafeRawBufferPointer, context: [UInt8]) -> [UInt8]? {
        var random = SystemRandomNumberGenerator()
        var sealed = (0..<Self.nonceSize).map { _ in UInt8.random(in: 0...255, using: &random) }
        let nonce = sealed
        sealed.append(contentsOf: repeatElement(0, count: plain.count + Self.tagSize))
        let status = sealed.withUnsafeMutableBufferPointer { sealed in
            ccrypto_seal(
                keyAddress, nonce, context, context.count, plain.baseAddress, plain.count,
                sealed.baseAddress.map { $0 + Self.nonceSize })
        }
        return status == 0 ? sealed : nil
    }

    /// What was sealed; nil when it was with another key or context, or was changed.
    package func open(_ sealed: UnsafeRawBufferPointer, context: [UInt8]) -> [UInt8]? {
        guard sealed.count >= Self.overhead, let start = sealed.baseAddress else { return nil }
        let count = sealed.count - Self.overhead
        var plain = [UInt8](repeating: 0, count: count)
        let status = ccrypto_open(
            keyAddress, start.assumingMemoryBound(to: UInt8.self), context, context.count,
            (start + Self.nonceSize).assumingMemoryBound(to: UInt8.self), count, &plain)
        return status == 0 ? plain : nil
    }

    private var keyAddress: UnsafePointer<UInt8>? {
        bytes.baseAddress.map { UnsafePointer($0.assumingMemoryBound(to: UInt8.self)) }
    }
}

extension SealingKey: CustomStringConvertible, CustomReflectable {
    /// What it is, nothing of what it holds.
    package var description: String { "sealing key" }
    /// A mirror that shows nothing.
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

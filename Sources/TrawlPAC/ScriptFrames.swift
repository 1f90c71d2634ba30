import Glibc

/// What the two sides of a script's process say to each other: a kind, a length of 32 bits in little endian, and text.
///
/// Both sides have the same build, and the child is started for one script, so there is no version.
package struct ScriptFrame: Sendable, Equatable {
    /// What a frame is about.
    package enum Kind: UInt8, Sendable {
        /// To the child: the URL, a zero byte, the host.
        case question = 1
        /// To the child: what a name stands for, parted by semicolons; empty for nothing.
        case answer = 2
        /// From the child: the script is ready.
        case ready = 16
        /// From the child: there is no duktape on this system.
        case noEngine = 17
        /// From the child: the script is none, or threw when it was loaded.
        case badScript = 18
        /// From the child: a letter that says what is asked, and a name.
        case lookup = 19
        /// From the child: what the script returned.
        case result = 20
        /// From the child: the script threw or returned no text.
        case failure = 21
    }

    /// The longest text.
    package static let longest = 16 << 10

    /// What it is about.
    package let kind: Kind
    /// Its text.
    package let text: [UInt8]

    /// A frame of its parts.
    package init(_ kind: Kind, _ text: [UInt8] = []) {
        self.kind = kind
        self.text = text
    }

    /// Writes it to a blocking socket, or one the peer reads from.
    /// - Returns: False when the peer is gone, or does not read.
    package func write(to descriptor: Int32) -> Bool {
        let length = UInt32(truncatingIfNeeded: text.count)
        let bytes = [kind.rawValue] + [0, 8, 16, 24].map { UInt8(length >> $0 & 0xFF) } + text
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes { bytes in
                // Not send(2), which the child may not call.
                Glibc.write(descriptor, bytes.baseAddress.map { $0 + sent }, bytes.count - sent)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    /// Takes a frame from the beginning of what was read.
    /// - Returns: Nil when it is not whole yet.
    package static func take(from bytes: inout [UInt8]) throws(BadFrame) -> ScriptFrame? {
        guard bytes.count >= 5 else { return nil }
        let length = (0..<4).reduce(0) { $0 | Int(bytes[1 + $1]) << (8 * $1) }
        guard let kind = Kind(rawValue: bytes[0]), length <= longest else { throw BadFrame() }
        guard bytes.count >= 5 + length else { return nil }
        let frame = ScriptFrame(kind, Array(bytes[5..<(5 + length)]))
        bytes.removeFirst(5 + length)
        return frame
    }

    /// Bytes that are no frame.
    package struct BadFrame: Error {}
}

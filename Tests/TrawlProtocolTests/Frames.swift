@testable import TrawlProtocol

/// The frame of a message.
func frame(_ message: CoordinatorMessage) -> [UInt8] {
    var writer = WireWriter()
    _ = message.write(to: &writer)
    return writer.bytes
}

/// The frame of a message.
func frame(_ message: WorkerMessage) -> [UInt8] {
    var writer = WireWriter()
    _ = message.write(to: &writer)
    return writer.bytes
}

/// A frame of parts, right or wrong.
func frame(kind: UInt8, descriptors: UInt8 = 0, reserved: (UInt8, UInt8) = (0, 0), _ payload: [UInt8]) -> [UInt8] {
    little(UInt32(payload.count)) + [kind, descriptors, reserved.0, reserved.1] + payload
}

/// The bytes of an integer as they go over the socket.
func little(_ value: some FixedWidthInteger) -> [UInt8] {
    withUnsafeBytes(of: value.littleEndian) { Array($0) }
}

extension FrameBuffer {
    /// Calls `body` with the next complete frame and removes it.
    ///
    /// - Returns: What `body` returned, or nil when no frame is complete yet.
    mutating func next<Result>(_ body: (Frame) throws(FrameError) -> Result) throws(FrameError) -> Result? {
        guard let cut = try cutFrame() else { return nil }
        return try withFrame(cut, body)
    }

    /// Adds bytes as if they had been read.
    mutating func receive(_ bytes: some Collection<UInt8>) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = fill(minimum: 1) { free in
                let part = rest.prefix(free.count)
                free.copyBytes(from: part)
                return part.count
            }
            rest = rest.dropFirst(count)
        }
    }
}

extension IncomingFrames {
    /// Adds bytes and descriptors as if they had been read.
    mutating func receive(_ bytes: some Collection<UInt8>, _ descriptors: [Int32] = []) {
        let count = fill(minimum: bytes.count) { free in
            free.copyBytes(from: bytes)
            return bytes.count
        }
        precondition(count == bytes.count)
        add(descriptors)
    }
}

/// The messages that complete frames of `bytes` hold.
func coordinatorMessages(_ bytes: some Collection<UInt8>) throws(FrameError) -> [CoordinatorMessage] {
    var buffer = FrameBuffer()
    buffer.receive(bytes)
    var messages: [CoordinatorMessage] = []
    while let message = try buffer.next(CoordinatorMessage.read) { messages.append(message) }
    return messages
}

/// The messages that complete frames of `bytes` hold.
func workerMessages(_ bytes: some Collection<UInt8>) throws(FrameError) -> [WorkerMessage] {
    var buffer = FrameBuffer()
    buffer.receive(bytes)
    var messages: [WorkerMessage] = []
    while let message = try buffer.next(WorkerMessage.read) { messages.append(message) }
    return messages
}

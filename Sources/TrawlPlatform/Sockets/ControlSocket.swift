import CTrawlPlatform
import Glibc

/// The stream between coordinator and worker, which can carry descriptors.
package enum ControlSocket {
    /// The most descriptors one `send` carries.
    package static let maximumDescriptors = cplatform_message_descriptors

    /// What a read gave.
    package enum Received: Equatable, Sendable {
        /// So many bytes, at least one.
        case bytes(Int)
        case wouldBlock
        /// The peer closed or died; nothing follows.
        case endOfStream
    }

    /// Both ends of a new stream.
    package struct Pair: ~Copyable, Sendable {
        /// The end that stays here.
        package let here: Descriptor
        /// The end for the other process.
        package let there: Descriptor

        /// Closes the other end, once the other process has it.
        package consuming func keepingHere() -> Descriptor { here }

        /// Gives both ends away, the one that stays here first.
        package consuming func split<Value: ~Copyable, Failure: Error>(
            _ body: (consuming Descriptor, consuming Descriptor) throws(Failure) -> Value
        ) throws(Failure) -> Value {
            try body(here, there)
        }
    }

    /// A connected pair, non-blocking and close-on-exec.
    ///
    /// - Parameters:
    ///   - sendBuffer: Bytes that may wait on their way out of each end; `nil` leaves the system's choice.
    ///   - receiveBuffer: The same on the way in. A Unix socket charges the sender alone, so this rarely matters.
    package static func pair(
        sendBuffer: Int32? = nil, receiveBuffer: Int32? = nil
    ) throws(SystemError) -> Pair {
        var ends: (Int32, Int32) = (-1, -1)
        let result = withUnsafeMutableBytes(of: &ends) { bytes in
            cplatform_socket_pair(bytes.assumingMemoryBound(to: Int32.self).baseAddress)
        }
        _ = try check(result, "socketpair")
        // Both are owned before anything can throw.
        let a = Descriptor(adopting: ends.0)
        let b = Descriptor(adopting: ends.1)
        for end in [a.rawValue, b.rawValue] {
            _ = try check(cplatform_socket_buffers(end, sendBuffer ?? 0, receiveBuffer ?? 0), "setsockopt")
        }
        let first = a.rawValue > 2 ? a : try a.duplicated(atLeast: 3)
        let second = b.rawValue > 2 ? b : try b.duplicated(atLeast: 3)
        return Pair(here: first, there: second)
    }

    /// Sends bytes, and descriptors with the first of them.
    ///
    /// - Parameters:
    ///   - bytes: Not empty.
    ///   - descriptors: At most `maximumDescriptors`; they stay the caller's and may be closed after a result other than nil.
    /// - Returns: How many bytes went, at least one, and all descriptors with them; `nil` when nothing went because the
    ///   socket is full, or because the system is short of something. A closed peer is `EPIPE`, never a signal.
    package static func send(
        _ fd: Int32, _ bytes: UnsafeRawBufferPointer, descriptors: [Int32] = []
    ) throws(SystemError) -> Int? {
        precondition(!bytes.isEmpty && descriptors.count <= maximumDescriptors)
        while true {
            let result =
                descriptors.isEmpty
                ? cplatform_send(fd, bytes.baseAddress, bytes.count)
                : cplatform_send_descriptors(
                    fd, bytes.baseAddress, bytes.count, descriptors, Int32(descriptors.count))
            if result == -Int64(EINTR) { continue }
            if result == -Int64(EAGAIN) { return nil }
            if result < 0, isShortage(result) {
                // The poller says that it can be written to all the same, so who tries again is held up here.
                MonotonicClock.sleep(for: .milliseconds(1))
                return nil
            }
            return try check(result, "sendmsg")
        }
    }

    /// Whether nothing went for want of memory in the kernel, or because too many descriptors of the user are on their
    /// way (unix(7), ETOOMANYREFS). Both pass, and the stream is whole: neither end is at fault.
    private static func isShortage(_ result: Int64) -> Bool {
        [ENOBUFS, ENOMEM, ETOOMANYREFS].contains { result == -Int64($0) }
    }

    /// Reads what is there.
    ///
    /// - Parameters:
    ///   - buffer: Not empty.
    ///   - descriptors: Those that came are appended, close-on-exec, and belong to the caller. They came with the first byte
    ///     of some `send`; a stream does not say which.
    /// - Throws: When descriptors were lost: `EMSGSIZE` for too many in a message, `EMFILE` when this process, or the
    ///   system, had no room for them. Those that came are closed, and the stream is of no more use.
    package static func receive(
        _ fd: Int32, into buffer: UnsafeMutableRawBufferPointer, descriptors: inout [Int32]
    ) throws(SystemError) -> Received {
        precondition(!buffer.isEmpty)
        var received: (Int64, Int64, Int64, Int64, Int64, Int64, Int64, Int64) = (0, 0, 0, 0, 0, 0, 0, 0)
        let outcome: Result<Received, SystemError> = withUnsafeMutableBytes(of: &received) { room in
            let came = room.bindMemory(to: Int32.self)
            var count: Int32 = 0
            var truncated: Int32 = 0
            var result: Int64
            repeat {
                result = cplatform_receive(fd, buffer.baseAddress, buffer.count, came.baseAddress, &count, &truncated)
            } while result == -Int64(EINTR)
            if truncated != 0 {
                for descriptor in came.prefix(Int(count)) { _ = cplatform_close(descriptor) }
                // unix(7): what does not fit the room is cut, and so is what the limit of open files does not admit.
                let isTooMany = Int(count) >= maximumDescriptors
                return .failure(SystemError(errno: isTooMany ? EMSGSIZE : EMFILE, call: "recvmsg"))
            }
            if count > 0 { descriptors.append(contentsOf: came.prefix(Int(count))) }
            switch result {
            case 1...: return .success(.bytes(Int(result)))
            // A peer that died with our bytes unread resets; what it had sent has been read by then.
            case 0, -Int64(ECONNRESET): return .success(.endOfStream)
            case -Int64(EAGAIN): return .success(.wouldBlock)
            default: return .failure(SystemError(errno: Int32(truncatingIfNeeded: -result), call: "recvmsg"))
            }
        }
        return try outcome.get()
    }
}

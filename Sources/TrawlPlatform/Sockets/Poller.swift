import CTrawlPlatform
import Glibc
package import TrawlHTTP

/// Waits for many descriptors at once (epoll, level-triggered).
///
/// Any thread may add and remove; one thread waits.
package final class Poller: Sendable {
    /// What to wait for. Errors and hang-ups are always reported.
    package struct Interest: OptionSet, Sendable, Hashable {
        /// The epoll bits.
        package let rawValue: UInt32
        /// Interest in the epoll bits given.
        package init(rawValue: UInt32) { self.rawValue = rawValue }
        /// Bytes, a connection, or the end of the stream can be read.
        package static let read = Interest(rawValue: UInt32(cplatform_event_read))
        /// Bytes can be written.
        package static let write = Interest(rawValue: UInt32(cplatform_event_write))
    }

    /// One descriptor that is ready.
    package struct Event: Sendable, Hashable {
        /// The token the descriptor was added with.
        package let token: UInt64
        let bits: UInt32
        /// A read will not block: bytes, the end of the stream, or an error are there.
        package var isReadable: Bool {
            bits
                & UInt32(
                    cplatform_event_read | cplatform_event_error | cplatform_event_hang_up)
                != 0
        }
        /// A write will not block: there is room or an error.
        package var isWritable: Bool {
            bits & UInt32(cplatform_event_write | cplatform_event_error) != 0
        }
        /// Both directions are closed.
        package var isHungUp: Bool { bits & UInt32(cplatform_event_hang_up) != 0 }
    }

    private let descriptor: Descriptor

    /// An empty set.
    package init() throws(SystemError) {
        descriptor = try Descriptor.adopt(cplatform_epoll_create(), "epoll_create1")
    }

    /// Starts watching a descriptor that is not watched yet.
    package func add(_ fd: Int32, token: UInt64, interest: Interest) throws(SystemError) {
        try control(cplatform_poll_add, fd, interest, token)
    }

    /// Changes token and interest of a watched descriptor.
    package func modify(_ fd: Int32, token: UInt64, interest: Interest) throws(SystemError) {
        try control(cplatform_poll_modify, fd, interest, token)
    }

    /// Stops watching. Do this before closing: a duplicate elsewhere would keep a closed descriptor in the set.
    package func remove(_ fd: Int32) throws(SystemError) {
        try control(cplatform_poll_remove, fd, [], 0)
    }

    private func control(
        _ operation: Int, _ fd: Int32, _ interest: Interest, _ token: UInt64
    ) throws(SystemError) {
        let operation = Int32(operation)
        _ = try check(
            cplatform_epoll_control(descriptor.rawValue, operation, fd, interest.rawValue, token), "epoll_ctl")
    }

    /// Waits until something is ready or the time is over, and calls the body for each event.
    ///
    /// - Parameters:
    ///   - deadline: When the time is over, signals, stops and continues or not; one that has passed only looks, `nil`
    ///     waits for ever.
    ///   - now: The time, as the caller last asked for it.
    /// - Returns: How many events there were; zero when the time is over.
    @discardableResult
    package func wait(
        until deadline: MonotonicInstant?, at now: MonotonicInstant, _ body: (Event) -> Void
    ) throws(SystemError) -> Int {
        let result: Result<Int, SystemError> = withUnsafeTemporaryAllocation(
            of: cplatform_event.self, capacity: cplatform_poll_capacity
        ) { events in
            let count: Int
            do throws(SystemError) {
                count = try fill(events, until: deadline, at: now)
            } catch {
                return .failure(error)
            }
            for event in events.prefix(count) { body(Event(token: event.token, bits: event.events)) }
            return .success(count)
        }
        return try result.get()
    }

    private func fill(
        _ events: UnsafeMutableBufferPointer<cplatform_event>, until deadline: MonotonicInstant?,
        at start: MonotonicInstant
    ) throws(SystemError) -> Int {
        var now = start
        while true {
            var left: Int64 = -1
            if let deadline { left = max(0, now.duration(to: deadline).clampedNanoseconds) }
            let result = cplatform_epoll_wait(descriptor.rawValue, events.baseAddress, Int32(events.count), left)
            if result != -EINTR { return Int(try check(result, "epoll_wait")) }
            // Interrupted, as by a stop and continue: wait for what is left.
            now = MonotonicClock.now()
        }
    }
}

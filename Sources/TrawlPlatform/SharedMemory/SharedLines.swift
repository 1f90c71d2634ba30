import CTrawlPlatform

/// The counters of one worker slot, written by its worker.
///
/// All words are statistics that stand alone, so relaxed order is enough.
///
/// `@unchecked Sendable`: it holds the segment, whose mapping is reached only by atomics.
package struct SharedWorkerLine: @unchecked Sendable {
    let segment: SharedSegment
    let line: UnsafeMutableRawPointer

    /// Counts up while the worker's loop turns.
    package var heartbeat: UInt64 { load(cplatform_worker_heartbeat) }
    /// Counts up while the worker's loop waits for the file of a body.
    package var fileBeats: UInt64 { load(cplatform_worker_file_beats) }
    /// Bytes received since the worker started.
    package var bytesIn: UInt64 { load(cplatform_worker_bytes_in) }
    /// Bytes sent since the worker started.
    package var bytesOut: UInt64 { load(cplatform_worker_bytes_out) }
    /// Which child is in the slot.
    package var generation: UInt64 { load(cplatform_worker_generation) }

    /// One turn of the worker's loop.
    package func beat() { add(cplatform_worker_heartbeat, 1) }
    /// The worker's loop waits for a file.
    package func beatForFile() { add(cplatform_worker_file_beats, 1) }
    /// More bytes received.
    package func countIn(_ bytes: UInt64) { add(cplatform_worker_bytes_in, bytes) }
    /// More bytes sent.
    package func countOut(_ bytes: UInt64) { add(cplatform_worker_bytes_out, bytes) }

    /// Clears the line for a new child. By the coordinator, while no worker is in the slot.
    package func reset(generation: UInt64) {
        for word in [
            cplatform_worker_heartbeat, cplatform_worker_file_beats, cplatform_worker_bytes_in,
            cplatform_worker_bytes_out,
        ] {
            cplatform_store_relaxed(line + word, 0)
        }
        cplatform_store_relaxed(line + cplatform_worker_generation, generation)
    }

    @inline(__always)
    private func load(_ word: Int) -> UInt64 {
        cplatform_load_relaxed(line + word)
    }

    @inline(__always)
    private func add(_ word: Int, _ value: UInt64) {
        _ = cplatform_add_relaxed(line + word, value)
    }
}

/// How far one transfer is, written by its worker and read after its death.
///
/// `@unchecked Sendable`: it holds the segment, whose mapping is reached only by atomics.
package struct SharedProgressLine: @unchecked Sendable {
    let segment: SharedSegment
    let line: UnsafeMutableRawPointer

    /// What a reader finds in a line.
    package struct Snapshot: Sendable, Hashable {
        /// The lease the line belongs to; zero when it is free.
        package let lease: UInt64
        /// Bit 0 is `requestMayHaveBeenSent`, bit 1 `isOver`; the rest is the writer's.
        package let phase: UInt64
        /// Bytes of the body received.
        package let received: UInt64
        /// Bytes of the body sent.
        package let sent: UInt64
        /// Bytes of the body expected; `nil` when unknown.
        package let expected: UInt64?
        /// Bytes of the body delivered, after decoding.
        package let decoded: UInt64

        /// Whether a byte of the request may have left the process, so that a retry could repeat its effect.
        package var requestMayHaveBeenSent: Bool { phase & Phase.sent != 0 }
        /// Whether the transfer is over; the end of its lease may not have been told yet.
        package var isOver: Bool { phase & Phase.over != 0 }
    }

    /// Bits of the phase.
    private enum Phase {
        static let sent: UInt64 = 1
        static let over: UInt64 = 2
    }

    /// Takes the line for a lease, with all else cleared.
    ///
    /// The id is stored last and in release order: a reader that sees it sees no word of the lease before. The other
    /// words are stored in release order too, so that none is seen under the id of the lease before.
    package func begin(lease: UInt64) {
        cplatform_store_relaxed(line + cplatform_progress_lease, 0)
        cplatform_store_release(line + cplatform_progress_phase, 0)
        cplatform_store_release(line + cplatform_progress_received, 0)
        cplatform_store_release(line + cplatform_progress_sent, 0)
        cplatform_store_release(line + cplatform_progress_expected, .max)
        cplatform_store_release(line + cplatform_progress_reservation, 0)
        cplatform_store_release(line + cplatform_progress_decoded, 0)
        cplatform_store_release(line + cplatform_progress_lease, lease)
    }

    /// The transfer is over, and nothing is reserved for it any more. The line tells of it until the next lease begins:
    /// its end has to be stored and told first, and this process may die before.
    package func finish() {
        cplatform_store_release(line + cplatform_progress_reservation, 0)
        _ = cplatform_or_ordered(line + cplatform_progress_phase, Phase.over)
    }

    /// Frees the line of a worker that is gone.
    package func free() {
        cplatform_store_release(line + cplatform_progress_lease, 0)
    }

    /// Says that request bytes may leave from now on. Call it before the first is handed to the system.
    ///
    /// The order matters only against the death of this process: the store is in the shared page before the next system
    /// call starts, whatever kills us then.
    package func markRequestMayHaveBeenSent() {
        _ = cplatform_or_ordered(line + cplatform_progress_phase, Phase.sent)
    }

    /// Bytes of the body received so far.
    package func set(received: UInt64) {
        cplatform_store_release(line + cplatform_progress_received, received)
    }

    /// Bytes of the body sent so far.
    package func set(sent: UInt64) {
        cplatform_store_release(line + cplatform_progress_sent, sent)
    }

    /// Bytes of the body expected in all; `nil` when unknown.
    package func set(expected: UInt64?) {
        cplatform_store_release(line + cplatform_progress_expected, expected ?? .max)
    }

    /// Bytes of the body delivered so far, after decoding.
    package func set(decoded: UInt64) {
        cplatform_store_release(line + cplatform_progress_decoded, decoded)
    }

    /// Bytes of the response that are charged though none of it has come; zero as soon as one has.
    package var reservation: UInt64 {
        get { cplatform_load_relaxed(line + cplatform_progress_reservation) }
        nonmutating set { cplatform_store_release(line + cplatform_progress_reservation, newValue) }
    }

    /// Reads the line. Its words are of one lease when `lease` is the same before and after; then the snapshot is
    /// returned, else `nil`: the line changed hands meanwhile.
    package func snapshot() -> Snapshot? {
        let lease = cplatform_load_acquire(line + cplatform_progress_lease)
        // Acquire: none of these may be read after the check of the lease.
        let phase = cplatform_load_acquire(line + cplatform_progress_phase)
        let received = cplatform_load_acquire(line + cplatform_progress_received)
        let sent = cplatform_load_acquire(line + cplatform_progress_sent)
        let expected = cplatform_load_acquire(line + cplatform_progress_expected)
        let decoded = cplatform_load_acquire(line + cplatform_progress_decoded)
        guard cplatform_load_relaxed(line + cplatform_progress_lease) == lease else { return nil }
        return Snapshot(
            lease: lease, phase: phase, received: received, sent: sent, expected: expected == .max ? nil : expected,
            decoded: decoded)
    }
}

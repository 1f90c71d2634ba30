import Glibc
import Synchronization
import TrawlHTTP
import TrawlPlatform

/// The change words that a directory has now: somebody may put other files in the place of these.
///
/// They are asked for several times on the way of every fetch and by many threads, so neither with a lock nor by
/// retaining them. Whatever was current once stays open until `deinit`, since a thread may be looking there still.
final class CurrentWords: Sendable {
    private struct State {
        /// All that were current.
        var opened: [ChangeWords] = []
        var isClosed = false
    }

    /// How often it is seen whether others are there.
    private static let lookInterval = Duration.seconds(1)
    /// So many are opened. Where others come again and again it is not known in the end what changes.
    private static let most = 1024

    private let directory: String
    /// Those of a reference to the current words, which `state` retains; 0 for none.
    private let bits = Atomic<UInt>(0)
    /// When it is to be seen whether they still are, in nanoseconds.
    private let nextLook = Atomic<UInt64>(0)
    private let state = Guarded(State())

    /// Those of a directory, made where there are none; none without room for them.
    init(of directory: String) {
        self.directory = directory
        take(Self.open(directory))
        nextLook.store(MonotonicClock.now().advanced(by: Self.lookInterval).nanoseconds, ordering: .releasing)
    }

    /// Without them everything is looked up each time. Somebody may have removed the directory, or the whole store.
    private static func open(_ directory: String) -> ChangeWords? {
        do throws(StoreError) {
            try StoreDirectory.prepare(directory)
            // They are mapped, and those that are new are written to.
            if MappedSpace.shortage(in: directory) != nil { return nil }
            return try ChangeWords(in: directory, hasData: access(directory + "/data.mdb", F_OK) == 0)
        } catch {
            return nil
        }
    }

    /// The word of a topic; nil when there are none, or this is closed.
    @inline(__always)
    func count(of topic: StateTopic) -> UInt64? { withCurrent { $0[topic] } }

    /// Says that something of a topic changes, or has changed.
    func raise(_ topic: StateTopic) { _ = withCurrent { $0.raise(topic) } }

    /// Sees whether the directory has others by now, when that was not seen for a while.
    ///
    /// - Returns: Whether it has.
    @inline(__always)
    func lookAgain() -> Bool {
        let now = MonotonicClock.coarse()
        let due = nextLook.load(ordering: .relaxed)
        return now.nanoseconds >= due && replaceIfOthers(due: due, at: now)
    }

    private func replaceIfOthers(due: UInt64, at now: MonotonicInstant) -> Bool {
        let next = now.advanced(by: Self.lookInterval).nanoseconds
        // Of several threads one looks, and none once this is closed.
        guard nextLook.compareExchange(expected: due, desired: next, ordering: .relaxed).exchanged,
            withCurrent({ $0.isCurrent }) != true
        else { return false }
        take(Self.open(directory))
        return true
    }

    private func take(_ words: ChangeWords?) {
        state.withLock { state in
            // It may have been closed meanwhile.
            guard !state.isClosed else { return }
            var reference: UInt = 0
            if let words, state.opened.count < Self.most {
                state.opened.append(words)
                reference = UInt(bitPattern: Unmanaged.passUnretained(words).toOpaque())
            }
            bits.store(reference, ordering: .releasing)
        }
    }

    /// There are none any more. The directory may be removed now, and is not made anew for who asks what has changed.
    func close() {
        state.withLock { state in
            state.isClosed = true
            bits.store(0, ordering: .releasing)
            nextLook.store(.max, ordering: .releasing)
        }
    }

    @inline(__always)
    private func withCurrent<Result>(_ body: (ChangeWords) -> Result) -> Result? {
        UnsafeRawPointer(bitPattern: bits.load(ordering: .acquiring)).map {
            Unmanaged<ChangeWords>.fromOpaque($0)._withUnsafeGuaranteedRef(body)
        }
    }
}

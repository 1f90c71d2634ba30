import TrawlHTTP
import TrawlPlatform
import TrawlStore

/// The states of the store directories that leases name. Bound to the transfer thread.
final class OpenStates {
    private var opened: [ExactText: (store: StateStore?, lastUse: UInt64, nextTry: MonotonicInstant)] = [:]
    private var uses: UInt64 = 0
    /// The last one: nearly always there is no other.
    private var last: (directory: ExactText, store: StateStore)?

    /// States open at a time.
    private static let most = 16
    /// For so long nobody tries again to open what could not be opened.
    private static let patience = Duration.seconds(2)
    /// All transfers wait for it.
    private static let openingPatience = Duration.seconds(1)

    deinit {
        for opened in opened.values { opened.store?.close() }
    }

    /// The state of a store directory; nil when it cannot be used, and then nothing is remembered.
    func store(_ path: String) -> StateStore? {
        let directory = ExactText(path)
        if let last, last.directory == directory { return last.store }
        uses += 1
        if let last { opened[last.directory]?.lastUse = uses }
        if let known = opened[directory] {
            if known.store != nil || MonotonicClock.now() < known.nextTry {
                opened[directory]?.lastUse = uses
                last = known.store.map { (directory, $0) }
                return known.store
            }
        }
        let store = try? StateStore.open(store: path, openingPatience: Self.openingPatience)
        opened[directory] = nil
        if opened.count >= Self.most, let least = opened.min(by: { $0.value.lastUse < $1.value.lastUse }) {
            opened[least.key] = nil
            least.value.store?.close()
        }
        opened[directory] = (store, uses, MonotonicClock.now().advanced(by: Self.patience))
        last = store.map { (directory, $0) }
        return store
    }
}

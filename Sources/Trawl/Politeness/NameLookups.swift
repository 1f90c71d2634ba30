import TrawlHTTP
import TrawlPlatform

/// Looks names up, on threads of its own: `trawl-names`, started when there is something to look up, and ended when
/// there is nothing any more.
///
/// Answers go to the supervisor's mailbox. A name is asked for once at a time, which is the supervisor's to see to; so
/// there are never more questions than fetches that wait for one.
final class NameLookups: Sendable {
    /// Lookups at a time.
    private static let mostThreads = 16

    private struct State {
        /// Those that are still to be looked up.
        var names = Line<String>()
        var threads = 0
        var isStopped = false
    }

    private let mailbox: Mailbox
    private let state = Guarded(State())

    init(_ mailbox: Mailbox) {
        self.mailbox = mailbox
    }

    /// Looks a name up; the answer comes as a command.
    func ask(_ name: String) {
        let startsThread: Bool = state.withLock { state in
            guard !state.isStopped else { return false }
            state.names.append(name)
            guard state.threads < Self.mostThreads else { return false }
            state.threads += 1
            return true
        }
        guard startsThread else { return }
        do throws(SystemError) {
            // Not joined: a lookup cannot be interrupted, and frees itself when it is over.
            _ = try NamedThread.start(name: "trawl-names") { [self] in run() }
        } catch {
            let forgotten: [String] = state.withLock { state in
                state.threads -= 1
                // Others take them.
                guard state.threads == 0 else { return [] }
                var names: [String] = []
                while let name = state.names.first {
                    names.append(name)
                    state.names.removeFirst()
                }
                return names
            }
            for name in forgotten { mailbox.post(.located(name, nil)) }
        }
    }

    /// Begins no more lookups. One that is under way ends by itself, and nobody is told.
    func stop() {
        state.withLock { state in
            state.isStopped = true
            state.names = Line()
        }
    }

    private func run() {
        while let name = nextName() {
            let text = NameLookup.addresses(of: name, ipv4Only: false)
            mailbox.post(.located(name, text?.split(separator: ";").map(String.init) ?? []))
        }
    }

    /// The next name; nil when there is none, and the thread ends.
    private func nextName() -> String? {
        state.withLock { state in
            guard let name = state.names.first else {
                state.threads -= 1
                return nil
            }
            state.names.removeFirst()
            return name
        }
    }
}

/// Hops that wait until it is known at which addresses their names are, and those whose names are known to have none.
struct NamelessHops {
    private var waiting: [String: [(fetch: FetchKey, front: Bool)]] = [:]
    /// Hops that fail at the next turn.
    private(set) var failing: [FetchKey] = []

    /// Lets a hop wait.
    ///
    /// - Returns: Whether it is the first, so that the name has to be looked up.
    mutating func wait(_ fetch: FetchKey, front: Bool, for name: String) -> Bool {
        waiting[name, default: []].append((fetch, front))
        return waiting[name]?.count == 1
    }

    /// A name was looked up.
    ///
    /// - Returns: Those who waited for that.
    mutating func take(_ name: String) -> [(fetch: FetchKey, front: Bool)] {
        waiting.removeValue(forKey: name) ?? []
    }

    /// Lets a hop fail at the next turn: who begins one does not expect its end.
    mutating func fail(_ fetch: FetchKey) { failing.append(fetch) }

    /// The next hop that fails; nil when there is none.
    mutating func nextFailing() -> FetchKey? { failing.popLast() }
}

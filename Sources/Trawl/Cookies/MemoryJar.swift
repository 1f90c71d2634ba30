import TrawlHTTP
import TrawlPlatform
import TrawlSession
import TrawlStore

/// A cookie jar in the coordinator's memory.
final class MemoryJar: Sendable {
    private let jar = Guarded(TrawlSession.CookieJar(limits: CookieTable.limits))

    /// How often it changed.
    var changes: UInt64 { jar.withLock { $0.generation } }

    /// The value of the `Cookie` field of a request, nil when there is nothing to say; and until when that is right by
    /// the times of the cookies in it, nil without any.
    func selected(
        for target: TargetURI, trustsLoopback: Bool, manual: [ManualCookie], at now: WallTime
    ) -> (field: [UInt8]?, steadyUntil: WallTime?) {
        jar.withLock { jar in
            CookieTarget.with(target, trustsLoopback: trustsLoopback) {
                jar.selected(for: $0, manual: manual, at: now)
            }
        }
    }

    /// Stores what the `Set-Cookie` lines of a response say.
    func receive(
        _ fields: FieldLines, from target: TargetURI, trustsLoopback: Bool, under conditions: CookieConditions,
        at now: WallTime
    ) {
        jar.withLock { jar in
            CookieTarget.with(target, trustsLoopback: trustsLoopback) { target in
                CookieRules.forEachLine(in: fields) { line in
                    _ = try? jar.receive(line, from: target, under: conditions, at: now)
                }
            }
        }
    }

    /// Runs `body` on the jar while no fetch uses it.
    func withJar<Result: Sendable>(_ body: (inout TrawlSession.CookieJar) -> Result) -> Result {
        jar.withLock { body(&$0) }
    }
}

/// The jars in a coordinator's memory, as requests name them; without a store all are. Each is there from its first use
/// on.
final class MemoryJars: Sendable {
    private let jars = Guarded<[ExactText: MemoryJar]>([:])

    /// The jar of a name.
    func jar(_ name: RequestOptions.Cookies.Jar) -> MemoryJar {
        // By its bytes, as in the store.
        let key = name.key
        return jars.withLock { jars in
            if let known = jars[key] { return known }
            let jar = MemoryJar()
            jars[key] = jar
            return jar
        }
    }

    /// Removes what a session's fetches took, from all jars.
    func removeAccepted(in session: UInt64) {
        let all = jars.withLock { Array($0.values) }
        for jar in all { jar.withJar { _ = $0.removeAccepted(in: session) } }
    }
}

extension RequestOptions.Cookies.Jar {
    /// What jars in memory are kept by: the kind, and the name.
    fileprivate var key: ExactText {
        switch self {
        case .none: ExactText("none")
        case .shared: ExactText("shared")
        case .named(let name): ExactText("named " + name)
        case .memory(let name): ExactText("memory " + name)
        }
    }
}

package import TrawlHTTP
package import TrawlSession

/// The cookies of one jar of a store, for whoever looks at them or changes them by hand.
package struct StoredCookies: Sendable {
    private let state: StateStore
    private let jar: String

    /// - Parameter jar: The jar's name; the empty one is shared.
    package init(_ state: StateStore, jar: String) {
        self.state = state
        self.jar = jar
    }

    /// All whose time is not over, oldest first; without a time those whose time is over, too.
    package func cookies(at now: WallTime?) throws(StoreError) -> [Cookie] {
        var all: [(cookie: Cookie, order: UInt64)] = []
        _ = try state.read(.cookies) { (snapshot) throws(StoreError) in
            all = []
            try CookieTable.forEach(in: jar, snapshot) { cookie in
                if let now, cookie.isExpired(at: now) { return }
                all.append((Cookie(cookie), cookie.order))
            }
        }
        all.sort { ($0.cookie.creation.milliseconds, $0.order) < ($1.cookie.creation.milliseconds, $1.order) }
        return all.map(\.cookie)
    }

    /// Those that go along with a request, in the order in which they are sent.
    package func cookies(for target: CookieTarget, at now: WallTime) throws(StoreError) -> [Cookie] {
        let found = try state.read(.cookies) { (snapshot) throws(StoreError) -> [Cookie] in
            var selection = CookieSelection(for: target, at: now)
            try CookieTable.offer(to: &selection, for: target, jar: jar, snapshot)
            var cookies: [Cookie] = []
            selection.forEach { cookies.append(Cookie($0)) }
            return cookies
        }
        return found ?? []
    }

    /// The names of the jars that were ever used beside the shared one.
    package static func jars(of state: StateStore) throws(StoreError) -> [String] {
        try state.read(.cookies) { (snapshot) throws(StoreError) in try CookieTable.jars(snapshot) } ?? []
    }

    /// Stores cookies of the program's own, on the calling thread; one whose time is over removes its like.
    package func set(_ cookies: [CookieRecord], at now: WallTime) throws(StoreError) {
        // Others write in between when there are many.
        for start in stride(from: 0, to: cookies.count, by: 512) {
            let part = cookies[start..<min(start + 512, cookies.count)]
            try state.perform(.cookies) { (transaction) throws(StoreError) in
                try set(part, at: now, in: transaction)
            }
        }
    }

    /// Stores cookies as if a server had sent them with one response, on the calling thread: those that would hide a secure
    /// one are left out (RFC 6265bis §5.7).
    ///
    /// - Returns: How many these are.
    package func receive(_ cookies: [ReceivedCookie], at now: WallTime) throws(StoreError) -> Int {
        try state.perform(.cookies) { (transaction) throws(StoreError) -> Int in
            let changes = try CookieTable.store(cookies, jar: jar, at: now, in: transaction, state: state)
            return changes.count { $0 == nil }
        }
    }

    /// Stores cookies of the program's own, together with other changes on the store thread, for which the calling one
    /// waits.
    package func setInGroup(_ cookies: [CookieRecord], at now: WallTime) throws(StoreError) {
        try Self.change(state) { (transaction) throws(StoreError) in
            try set(cookies[...], at: now, in: transaction)
            return 0
        }
    }

    private func set(
        _ cookies: ArraySlice<CookieRecord>, at now: WallTime, in transaction: borrowing Transaction
    ) throws(StoreError) {
        let received = cookies.map { ReceivedCookie(own: $0, at: now) }
        try CookieTable.store(received, jar: jar, at: now, in: transaction, state: state)
    }

    /// Removes those that satisfy a condition, on the calling thread: how many.
    ///
    /// - Parameter condition: May be asked more than once.
    package func remove(where condition: (CookieView) -> Bool) throws(StoreError) -> Int {
        // What was never stored need not be looked for.
        if state.changes(of: .cookies) == 0 { return 0 }
        return try state.perform(.cookies) { (transaction) throws(StoreError) in
            try CookieTable.remove(from: jar, in: transaction, where: condition)
        }
    }

    /// As above, together with other changes on the store thread, for which the calling one waits.
    package func removeInGroup(where condition: @escaping @Sendable (CookieView) -> Bool) throws(StoreError) -> Int {
        if state.changes(of: .cookies) == 0 { return 0 }
        return try Self.change(state) { (transaction) throws(StoreError) in
            try CookieTable.remove(from: jar, in: transaction, where: condition)
        }
    }

    /// Removes those of all jars that satisfy a condition, in one change, together with others on the store thread, for
    /// which the calling one waits: how many.
    ///
    /// - Parameter condition: May be asked more than once.
    package static func removeInGroup(
        fromAllJarsOf state: StateStore, where condition: @escaping @Sendable (CookieView) -> Bool
    ) throws(StoreError) -> Int {
        if state.changes(of: .cookies) == 0 { return 0 }
        return try change(state) { (transaction) throws(StoreError) in
            try CookieTable.remove(from: nil, in: transaction, where: condition)
        }
    }

    @discardableResult
    private static func change(
        _ state: StateStore,
        _ work: @escaping @Sendable (borrowing Transaction) throws(StoreError) -> Int
    ) throws(StoreError) -> Int {
        let run = ChangeRun()
        let end = SignalledValue<Result<Int, StoreError>?>(nil)
        state.submit(.cookies) { (transaction) throws(StoreError) in
            run.value = try work(transaction)
        } completion: { result in
            end.update { end, signal in
                end = result.map { run.value }
                signal()
            }
        }
        var result: Result<Int, StoreError> = .failure(.closed)
        end.wait { end in
            guard let end else { return false }
            result = end
            return true
        }
        return try result.get()
    }
}

/// What a change came to, set on the store thread and read there after the commit.
///
/// `@unchecked Sendable`: the work and its completion run on the same thread, one after the other.
private final class ChangeRun: @unchecked Sendable {
    var value = 0
}

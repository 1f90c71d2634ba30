import TrawlHTTP
import TrawlPlatform
import TrawlProtocol
import TrawlSession
import TrawlStore
import TrawlTransfer
import TrawlURL

/// Stores the cookies of responses, in the jars that profiles name. Bound to the transfer thread.
final class CookieKeeper: StateKeeper {
    /// Leases under way from which on commits wait a moment for others.
    private static let crowd = 8

    private let commits: CommitLog
    private let stores = OpenStates()
    private let urls = URLParser()
    private let suffixes = PublicSuffixTest { PublicSuffixes.contains($0) }

    init(commits: CommitLog) {
        self.commits = commits
    }

    func received(
        _ head: TrawlHTTP.ResponseHead, of lease: Lease, _ terms: StateTerms, at now: WallTime, leases: Int
    ) -> UInt64? {
        guard let target = try? urls.parse(lease.url) else { return nil }
        // The coordinator looked at the accept policy.
        let conditions = CookieConditions(
            suffixes: suffixes, session: terms.session, endsWithSession: terms.endsSessionCookies)
        var received: [ReceivedCookie] = []
        CookieTarget.with(target, trustsLoopback: lease.proxy == nil) { target in
            CookieRules.forEachLine(in: head.fields) { line in
                if let cookie = try? CookieRules.receive(line, from: target, under: conditions, at: now) {
                    received.append(cookie)
                }
            }
        }
        if received.isEmpty { return nil }
        guard let store = stores.store(terms.directory) else {
            let number = commits.next()
            commits.add(number, isStored: false)
            return number
        }
        let jar = terms.jar
        // Many servers set the same cookie with each response.
        if Self.changesNothing(received, in: store, jar, now) { return nil }
        let number = commits.next()
        let commits = commits
        let urgency: GroupedWrites.Urgency = leases >= Self.crowd ? .soon : .now
        // When most of those there are wait, nothing more is to come before some of them are done.
        store.store(received, jar: jar, at: now, urgency, enough: leases * 3 / 4) { isStored in
            commits.add(number, isStored: isStored)
        }
        return number
    }

    private static func changesNothing(
        _ received: [ReceivedCookie], in store: StateStore, _ jar: String, _ now: WallTime
    ) -> Bool {
        let isSame = try? store.read(.cookies) { (snapshot) throws(StoreError) in
            for cookie in received {
                let isSame = try cookie.record.withView { (new) throws(StoreError) in
                    try CookieTable.withSame(as: new, jar: jar, snapshot) { cookie.changesNothing(of: $0, at: now) }
                }
                guard isSame == true else { return false }
            }
            return true
        }
        return isSame == true
    }
}

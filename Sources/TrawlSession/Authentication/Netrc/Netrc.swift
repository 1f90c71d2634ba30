import TrawlHTTP

/// The entries of a netrc file.
package struct Netrc: Sendable {
    /// What is read at most; a file that is larger is refused.
    package struct Limits: Sendable, Hashable {
        /// Bytes of the file.
        package var bytes = 1 << 20
        /// Entries.
        package var entries = 10_000
        /// Bytes of one word.
        package var wordBytes = 4096

        /// The usual limits.
        package init() {}
    }

    /// One `machine` or `default`.
    package struct Entry: Sendable, Hashable {
        /// The host in lower case; nil for `default`.
        package var host: String?
        /// The user, or nil.
        package var login: String?
        /// The password, or nil.
        package var password: Secret?
        /// Where it begins, from 1.
        package let line: Int
    }

    /// The entries in the file's order.
    package private(set) var entries: [Entry]
    /// Entries by host, in order.
    private let places: [String: [Int]]
    private let defaults: [Int]

    init(entries: [Entry]) {
        self.entries = entries
        var places: [String: [Int]] = [:]
        var defaults: [Int] = []
        for (place, entry) in entries.enumerated() {
            if let host = entry.host { places[host, default: []].append(place) } else { defaults.append(place) }
        }
        self.places = places
        self.defaults = defaults
    }

    /// Credentials for a host, or nil.
    ///
    /// The first entry in the file that fits counts, `default` fitting all: what stands behind it is for nobody. With a
    /// user only an entry that names this user, or none, fits.
    ///
    /// - Parameter host: In lower case; the brackets of an IPv6 address may be there or not.
    package func credentials(for host: String, user: String? = nil) -> Credentials? {
        let host = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
        let all = places[host] ?? []
        let fits = { (place: Int) in
            let entry = entries[place]
            guard entry.password != nil || entry.login != nil else { return false }
            guard let user, let login = entry.login else { return true }
            return login.hasSameBytes(as: user)
        }
        guard let place = [all.first(where: fits), defaults.first(where: fits)].compactMap({ $0 }).min() else {
            return nil
        }
        let entry = entries[place]
        guard let name = user ?? entry.login else { return nil }
        // For the session, so that they go ahead once they have worked.
        return Credentials(user: name, password: entry.password?.revealed ?? "", persistence: .session)
    }
}

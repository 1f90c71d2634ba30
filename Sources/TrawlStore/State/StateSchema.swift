import TrawlSession

/// The tables of the `state` environment; docs/storage.md gives their bytes.
///
/// All of them are there from the first opening on, whoever needs which: an environment has one set of tables. Each row
/// of each begins with a checksum of the rest (`CheckedRow`).
package enum StateSchema {
    /// The version of everything in the environment.
    static let format: UInt32 = 1

    /// `CookieKey` to the record of a cookie.
    package static let cookies = Table(0, "cookies", .bytes, longestKey: CookieKey.limit)
    /// The name of a jar to its number.
    package static let jars = Table(1, "jars", .bytes, longestKey: CookieTable.nameLimit)
    /// Digest of a protection space to sealed credentials.
    package static let credentials = Table(2, "credentials", .bytes)
    /// The name of a host to what it said about its security.
    package static let hosts = Table(3, "hosts", .bytes)

    static let tables = [cookies, jars, credentials, hosts]
}

/// What processes tell each other about: each has a word in the file `changes` that rises with every change.
package enum StateTopic: Int, Sendable, CaseIterable {
    /// Tables `cookies` and `jars`.
    case cookies
    /// Table `credentials`.
    case credentials
    /// Table `hosts`.
    case hosts
    /// Secure cookies that come where there was none; see `PlainDomains`.
    case secureCookies
}

import Glibc
import Trawl
import TrawlHTTP
import TrawlPlatform
import TrawlSession
import TrawlStore
import TrawlURL

/// The cookie jar a subcommand of `cookies` works on.
///
/// Where there is no store it stays so, unless something is to be stored.
struct CookiesAtHand {
    /// The store's directory, absolute.
    let directory: String
    /// When cookies end.
    let now = WallClock.time()
    private let jar: String
    private let state: StateStore?

    /// Domains nobody may set cookies for.
    static let suffixes = PublicSuffixTest { PublicSuffixes.contains($0) }

    /// Opens it.
    ///
    /// - Parameters:
    ///   - path: Of the store; nil is the user's own.
    ///   - makes: Whether the store is made when it is not there.
    init(_ path: String?, jar: String, makes: Bool) throws(CommandError) {
        let place = path.map(Configuration.Store.directory) ?? .userDefault
        guard let directory = place.resolvedDirectory else {
            throw CommandError("neither XDG_CACHE_HOME nor HOME names a directory: --store is needed")
        }
        if directory.utf8.contains(0) { throw CommandError("--store: no directory has such a name") }
        self.directory = directory
        self.jar = jar
        let isThere = access(directory + "/state/.", F_OK) == 0
        // What may not be looked at is not known to be empty.
        if !isThere, errno != ENOENT {
            let error: StoreError =
                errno == ENOTDIR
                ? .unusable(path: directory + "/state", reason: "part of the path is no directory")
                : .system(SystemError(errno: errno, call: "access"))
            throw CommandError(error, in: directory, "the cookies")
        }
        do throws(StoreError) {
            state = isThere || makes ? try StateStore.open(store: directory) : nil
        } catch {
            throw CommandError(error, in: directory, "the cookies")
        }
    }

    /// To be called at the end; what was changed is on the disk then.
    func close() { state?.close() }

    /// What a closure makes of the cookies; `empty` when there is no store.
    func with<Value>(
        _ empty: Value, _ body: (StoredCookies) throws(StoreError) -> Value
    ) throws(CommandError) -> Value {
        guard let state else { return empty }
        do throws(StoreError) {
            return try body(StoredCookies(state, jar: jar))
        } catch {
            throw CommandError(error, in: directory, "the cookies")
        }
    }

    /// All cookies whose time is not over, oldest first.
    func cookies() throws(CommandError) -> [TrawlSession.Cookie] {
        try with([]) { (stored) throws(StoreError) in try stored.cookies(at: now) }
    }
}

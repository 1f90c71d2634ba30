import Glibc
import Trawl
import TrawlHTTP
import TrawlPlatform
import TrawlStore

/// The store a subcommand of `cache` works on.
///
/// Where there is none it stays so: looking at a store does not make one.
struct CacheAtHand {
    /// The store's directory, absolute.
    let directory: String
    /// Nil when there is none, which is as good as an empty one.
    let responses: ResponseStore?
    /// When ages are counted.
    let now = WallClock.time()

    /// Opens it.
    ///
    /// - Parameters:
    ///   - path: Of the store; nil is the user's own.
    ///   - budget: Bytes it may take; nil is the usual.
    init(_ path: String?, budget: UInt64?) throws(CommandError) {
        let place = path.map(Configuration.Store.directory) ?? .userDefault
        guard let directory = place.resolvedDirectory else {
            throw CommandError("neither XDG_CACHE_HOME nor HOME names a directory: --store is needed")
        }
        if directory.utf8.contains(0) { throw CommandError("--store: no directory has such a name") }
        self.directory = directory
        var settings = CacheSettings()
        settings.budget = budget ?? Configuration.Cache().byteBudget
        do throws(StoreError) {
            responses =
                try ResponseStore.isThere(in: directory)
                ? try ResponseStore.open(directory: directory, settings: settings) : nil
        } catch {
            throw CommandError(error, in: directory)
        }
    }

    /// To be called at the end; waits for what is being removed.
    func close() { responses?.cache.close() }

    /// What a closure says of the store; `empty` when there is none.
    func read<Value>(
        _ empty: Value, _ body: (ResponseStore) throws(StoreError) -> Value
    ) throws(CommandError) -> Value {
        guard let responses else { return empty }
        do throws(StoreError) {
            return try body(responses)
        } catch {
            throw CommandError(error, in: directory)
        }
    }

    /// Visits stored responses in the order of storing, until `body` says no.
    func forEach(
        _ prefix: StoredURLPrefix?, _ body: (StoredListing) throws(CommandError) -> Bool
    ) throws(CommandError) {
        try responses?.forEach(failure: { CommandError($0, in: directory) }) { listing throws(CommandError) in
            if let prefix, !prefix.matches(listing.url) { return true }
            return try body(listing)
        }
    }
}

extension CommandError {
    /// What a store says when it cannot be used.
    init(_ error: StoreError, in directory: String, _ what: StaticString = "the cache") {
        let status: Int32 =
            switch error {
            case .damaged: ExitStatus.dataError
            case .newerFormat, .olderFormat, .unusable: ExitStatus.configuration
            // EX_TEMPFAIL.
            case .busy, .locked: ExitStatus.stopped
            case .system(let error):
                [EACCES, EPERM].contains(error.errno) ? ExitStatus.noPermission : ExitStatus.outputError
            case .full, .diskFull, .readersFull, .forked, .closed, .unfit, .abandoned, .library: ExitStatus.outputError
            }
        let reason =
            if case .system(let error) = error { SystemError.reason(error.errno) } else { error.description }
        self.init("\(what) in \(directory.terminalSafe): \(reason.terminalSafe)", status: status)
    }
}

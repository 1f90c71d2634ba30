import Foundation
import Trawl

/// What a program would write: entries in a dictionary.
final class MemoryCache: DownloadCache {
    /// What goes wrong.
    enum Fault: CaseIterable {
        /// Nothing is ever found.
        case forgets
        /// Records come back cut, changed or empty.
        case cuts
        case garbles
        case empties
        /// Bodies come back shorter.
        case shortens
        /// Entries of other URLs come back.
        case confuses
    }

    private struct State {
        var entries: [String: [DownloadCacheEntry]] = [:]
        var calls = 0
    }

    let secret: [UInt8]?
    private let fault: Fault?
    private let state = Locked(State())

    init(secret: [UInt8]? = nil, fault: Fault? = nil) {
        self.secret = secret
        self.fault = fault
    }

    var count: Int { state.withLock { $0.entries.values.reduce(0) { $0 + $1.count } } }
    var urls: [String] {
        state.withLock { state in state.entries.keys.filter { state.entries[$0]?.isEmpty == false }.sorted() }
    }
    var calls: Int { state.withLock { $0.calls } }
    func entries(under url: String) -> [DownloadCacheEntry] { state.withLock { $0.entries[url] ?? [] } }

    func entries(for url: String) async -> [DownloadCacheEntry] {
        let (mine, others) = state.withLock { state in
            state.calls += 1
            return (state.entries[url] ?? [], state.entries.filter { $0.key != url }.values.flatMap(\.self))
        }
        switch fault {
        case nil: return mine
        case .forgets: return []
        case .cuts: return mine.map { $0.with(record: Array($0.record.dropLast($0.record.count / 2))) }
        case .garbles: return mine.map { $0.with(record: $0.record.map { ~$0 }) }
        case .empties: return mine.map { $0.with(record: []) }
        case .shortens: return mine.map { $0.with(body: Array($0.body.dropLast())) }
        case .confuses: return others
        }
    }

    func store(_ entry: DownloadCacheEntry, replacing: [DownloadCacheEntry.ID]) async {
        state.withLock { state in
            state.calls += 1
            state.entries[entry.url, default: []].removeAll { replacing.contains($0.id) }
            state.entries[entry.url, default: []].append(entry)
        }
    }

    func update(_ entry: DownloadCacheEntry) async {
        state.withLock { state in
            state.calls += 1
            guard let index = state.entries[entry.url]?.firstIndex(where: { $0.id == entry.id }) else { return }
            state.entries[entry.url]?[index] = entry
        }
    }

    func remove(_ entries: [DownloadCacheEntry.ID], for url: String) async {
        state.withLock { state in
            state.calls += 1
            state.entries[url]?.removeAll { entries.contains($0.id) }
        }
    }

    func removeEntries(for url: String) async {
        state.withLock { state in
            state.calls += 1
            state.entries[url] = nil
        }
    }

    func removeEntries(where isMeant: @Sendable (String) -> Bool) async {
        state.withLock { state in
            state.calls += 1
            for url in state.entries.keys where isMeant(url) { state.entries[url] = nil }
        }
    }

    func removeEntries(kept storage: RequestOptions.Caching.Storage) async {
        state.withLock { state in
            state.calls += 1
            for url in state.entries.keys { state.entries[url]?.removeAll { $0.storage == storage } }
        }
    }
}

extension DownloadCacheEntry {
    /// What a program could make of it: entries are written and read as JSON, say.
    fileprivate func with(record: [UInt8]? = nil, body: [UInt8]? = nil) -> DownloadCacheEntry {
        var parts = (try? JSONSerialization.jsonObject(with: JSONEncoder().encode(self))) as? [String: Any] ?? [:]
        if let record { parts["record"] = record.map { Int($0) } }
        if let body { parts["body"] = body.map { Int($0) } }
        let data = (try? JSONSerialization.data(withJSONObject: parts)) ?? Data()
        return (try? JSONDecoder().decode(DownloadCacheEntry.self, from: data)) ?? self
    }
}

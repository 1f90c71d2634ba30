// TrawlStore: LMDB environments, their tables, and blob files. It knows how to keep bytes and find them again after any
// crash; what the bytes mean is decided above. Nothing that another process or a disk can do to the files ends this
// one.

import CTrawlBlob
import Glibc
package import TrawlCache
package import TrawlHTTP
import TrawlPlatform

/// Stored responses: the rules of `TrawlCache` over the records of one cache.
///
/// Looking something up is for any thread and writes nothing. What is damaged is a miss, and goes.
package final class ResponseStore: Sendable {
    /// The records.
    package let cache: CacheStore
    /// The rules, with this store's way to stand for secrets.
    package let rules: CacheRules

    /// Opens the cache of a store directory, or makes both.
    ///
    /// - Parameter directory: Of the store; the cache is in `cache` beneath it.
    package static func open(directory: String, settings: CacheSettings) throws(StoreError) -> ResponseStore {
        try StoreDirectory.make(directory)
        let path = directory + "/cache"
        let cache = try CacheStore.open(directory: path, settings: settings)
        do throws(SystemError) {
            return ResponseStore(cache, secret: try StoreSecret.of(path))
        } catch {
            cache.close()
            throw .from(error)
        }
    }

    private init(_ cache: CacheStore, secret: [UInt8]) {
        self.cache = cache
        let secrets = SecretTags(key: secret)
        rules = CacheRules(tag: { secrets.tag(of: $0) })
    }

    /// Looks for a response that answers a request, or that a request can ask about.
    ///
    /// - Parameters:
    ///   - bodies: Whether the body of a hit is wanted: up to so many bytes, and none above.
    ///   - candidates: Whether the response that a request asks about is wanted, or that the answer to HEAD is about.
    package func lookup(
        _ request: CacheRequest, at now: WallTime, bodies limit: UInt64 = .max, candidates wantsCandidate: Bool = false
    ) -> StoredLookup {
        guard wantsCandidate ? request.concernsStored : request.mayBeAnsweredFromStore else {
            return Self.settle(rules.lookup(request, stored: nil, at: now))
        }
        let key = request.key
        let found = cache.read(CacheDigest(of: key)) { candidates in
            choose(among: candidates, request, now, limit, wantsCandidate)
        }
        return found ?? Self.settle(rules.lookup(request, stored: nil, at: now))
    }

    /// A stored response that stands in for an answer that does not come, or has come to be stored meanwhile; nil when
    /// there is none, or none may.
    ///
    /// - Parameter limit: As of `lookup`.
    package func fallback(_ request: CacheRequest, at now: WallTime, bodies limit: UInt64) -> StoredHit? {
        switch lookup(request, at: now, bodies: limit, candidates: true) {
        case .serve(let hit):
            return hit
        case .send(_, let candidate?):
            let response = candidate.response
            guard let reuse = rules.fallback(request, response, after: .unreachable, at: now) else { return nil }
            let range = reuse.bodyRange(of: response.facts.body) ?? 0..<0
            var body: StoredBody?
            if !range.isEmpty, response.facts.body.length <= limit {
                guard let opened = self.body(of: candidate.use, like: response) else { return nil }
                body = opened
            }
            return StoredHit(
                head: response.head(as: reuse), reuse: reuse,
                isValidatedAlike: rules.isValidatedAlike(request, response.facts), range: range, body: body,
                use: candidate.use)
        case .send, .unsatisfiable:
            return nil
        }
    }

    /// What the records of a key make of a request; nil when none of them is of use.
    private func choose(
        among candidates: borrowing CacheCandidates, _ request: CacheRequest, _ now: WallTime, _ limit: UInt64,
        _ wantsCandidate: Bool
    ) -> StoredLookup? {
        guard let best = preferred(among: candidates, for: request) else { return nil }
        // As if there were nothing; what to ask for is another's business.
        if !wantsCandidate, rules.mustAsk(request, best.view.facts, at: now) { return nil }
        var fields: FieldLines?
        let decision = rules.lookup(request, stored: best.view, at: now) {
            fields = fields ?? best.view.storedFields()
            return fields
        }
        switch decision {
        case .unsatisfiable:
            return .unsatisfiable
        case .send(let sending):
            guard wantsCandidate else { return .send(sending, nil) }
            // The answer to HEAD says something about what is stored for GET (RFC 9111 §4.3.5).
            if case .forward = sending.purpose, !sending.mayFallBack, request.method != .head {
                return .send(sending, nil)
            }
            guard let response = try? StoredResponse(best.view, fields: fields) else { return nil }
            return .send(sending, StoredCandidate(response: response, use: best.record.use))
        case .serve(let reuse):
            guard let head = try? best.view.head(as: reuse) else { return nil }
            let range = reuse.bodyRange(of: best.view.facts.body) ?? 0..<0
            var body: StoredBody?
            if !range.isEmpty, best.record.bodyLength <= limit {
                guard let opened = best.record.body() else { return nil }
                body = opened
            }
            return .serve(
                StoredHit(
                    head: head, reuse: reuse, isValidatedAlike: rules.isValidatedAlike(request, best.view.facts),
                    range: range, body: body, use: best.record.use))
        }
    }

    /// The record to use for a request; nil when there is none.
    private func preferred(
        among candidates: borrowing CacheCandidates, for request: CacheRequest
    ) -> (view: StoredView, record: StoredRecord)? {
        // Mostly there is one, and no list of them to be made.
        if candidates.count == 1 {
            guard let only = Self.item(at: 0, of: candidates), only.view.facts.body.length == only.record.bodyLength,
                rules.prefers(only.view, over: nil, for: request)
            else { return nil }
            return only
        }
        // Each is checked once: all of it may be long.
        var items: [(view: StoredView, record: StoredRecord)] = []
        var varying: StoredFacts?
        for index in 0..<candidates.count {
            guard let item = Self.item(at: index, of: candidates) else { continue }
            varying = rules.newestVarying(varying, item.view, for: request)
            items.append(item)
        }
        var best: (view: StoredView, record: StoredRecord)?
        for item in items where item.view.facts.body.length == item.record.bodyLength {
            if rules.prefers(item.view, over: best?.view, beside: varying, for: request) { best = item }
        }
        return best
    }

    /// A record and what it says; nil when that makes no sense.
    private static func item(
        at index: Int, of candidates: borrowing CacheCandidates
    ) -> (view: StoredView, record: StoredRecord)? {
        guard let record = candidates.record(at: index), let view = try? StoredView(record.header) else { return nil }
        return (view, record)
    }

    private static func settle(_ decision: CacheDecision) -> StoredLookup {
        switch decision {
        case .unsatisfiable, .serve: .unsatisfiable
        case .send(let sending): .send(sending, nil)
        }
    }
}

/// What looking for a stored response came to.
package enum StoredLookup: Sendable {
    /// It answers.
    case serve(StoredHit)
    /// A request goes out; with a candidate, it asks about that.
    case send(Sending, StoredCandidate?)
    /// Nothing answers, and nothing may be sent.
    case unsatisfiable
}

/// A stored response that answers a request.
package struct StoredHit: Sendable {
    /// The head of the answer.
    package let head: ResponseHead
    /// In which form, and how old.
    package let reuse: Reuse
    /// Whether it is validated by a request like the one it answers (`CacheRules.isValidatedAlike`).
    package let isValidatedAlike: Bool
    /// Which bytes of the stored body the answer has, content codings still on.
    package let range: Range<UInt64>
    /// The stored body, unless it is empty or was not wanted.
    package let body: StoredBody?
    /// What a use of it leaves behind.
    package let use: CacheUse

    /// How many bytes of body the answer has.
    package var length: UInt64 { UInt64(range.count) }
}

/// A stored response that a request asks about.
package struct StoredCandidate: Sendable {
    /// What is stored, but for the body.
    package let response: StoredResponse
    /// Which record it is.
    package let use: CacheUse
}

extension ResponseStore {
    /// The body of a record; nil when it is gone or damaged.
    package func body(of use: CacheUse) -> StoredBody? {
        cache.read(use) { $0.body() }
    }

    /// The body that goes with a response: that of its record, or of the one that has taken its place meanwhile.
    ///
    /// Others validate and load the same at the same time.
    package func body(of use: CacheUse, like response: StoredResponse) -> StoredBody? {
        if let body = body(of: use) { return body }
        return cache.read(use.digest) { candidates in
            for index in 0..<candidates.count {
                guard let record = candidates.record(at: index), let view = try? StoredView(record.header),
                    view.isReplaced(by: response), view.facts.body == response.facts.body,
                    let fields = view.storedFields(), let tag = fields.first("ETag"),
                    !tag.isEmpty, tag == response.head.fields.first("ETag")
                else { continue }
                return record.body()
            }
            return nil
        }
    }

    /// The record of a response, which takes the place of those that nobody needs any more once it is stored. A part of
    /// what is stored already is not stored, and what is stored is freshened by it.
    ///
    /// - Parameter asked: When it was asked for. It is not stored where an answer that came later has made what is
    ///   stored under its key invalid; whenever that was, when nothing is given.
    package func record(
        of response: StoredResponse, body: SpooledBody, _ storageClass: StorageClass, replacing: [CacheUse],
        asked: WallTime? = nil, at now: WallTime
    ) -> NewRecord {
        NewRecord(
            digest: CacheDigest(of: response.key), header: response.encoded(), body: body, storageClass: storageClass,
            stored: UInt64(max(0, response.facts.responseTime.milliseconds)),
            asked: asked.map { UInt64(max(0, $0.milliseconds)) }, replacing: replacing.map(\.sequence),
            judge: { [rules] in Self.judge($0, response, by: rules, at: now) })
    }

    /// What becomes of a stored response when another one of its digest comes.
    private static func judge(
        _ old: UnsafeRawBufferPointer, _ response: StoredResponse, by rules: CacheRules, at now: WallTime
    ) -> NewRecord.Verdict {
        guard let view = try? StoredView(old) else { return .stays }
        switch rules.fate(of: view, beside: response, at: now) {
        case .stays: return .stays
        case .goes: return .goes
        case .prevails: return .prevails(header: nil)
        case .freshened(let fresh): return .prevails(header: fresh.encoded())
        }
    }

    /// A stored part of the same class that is to be made one with a new part, with its body; nil when there is none.
    package func neighbour(
        of part: StoredResponse, on side: PartSide, _ storageClass: StorageClass
    ) -> StoredItem? {
        cache.read(CacheDigest(of: part.key)) { candidates in
            for index in 0..<candidates.count {
                guard let record = candidates.record(at: index), record.storageClass == storageClass,
                    let view = try? StoredView(record.header), view.facts.body.length == record.bodyLength,
                    let stored = rules.neighbour(view, of: part, on: side), let body = record.body()
                else { continue }
                return StoredItem(response: stored, body: body, use: record.use)
            }
            return nil
        }
    }

    /// What is stored of an origin. Finding it costs as much as there is, however much is stored of others.
    package static func records(of origin: Origin) -> CacheFilter {
        let digest = CacheDigest(of: CacheKey(text: origin.keyStart))
        return CacheFilter(origin: digest.words.0) { header in
            guard let view = try? StoredView(header) else { return false }
            return view.isOf(origin)
        }
    }
}

extension CacheDigest {
    /// The digest of a cache key.
    package init(of key: CacheKey) {
        var text = key.text
        var halves: (UInt64, UInt64) = (0, 0)
        let origin = text.withUTF8 { bytes in
            cblob_hash(bytes.baseAddress, bytes.count, &halves.0, &halves.1)
            return cblob_checksum(bytes.baseAddress, Self.originLength(of: bytes))
        }
        self.init(origin, halves.1)
    }

    /// The bytes up to and with the slash that begins the path; all when there is none.
    private static func originLength(of key: UnsafeBufferPointer<UInt8>) -> Int {
        let slash = UInt8(ascii: "/")
        guard let scheme = key.firstIndex(of: slash), scheme + 2 < key.count else { return key.count }
        return key[(scheme + 2)...].firstIndex(of: slash).map { $0 + 1 } ?? key.count
    }
}

/// A record as a program sees it.
package struct StoredEntry: Sendable {
    /// What is stored, but for the body.
    package let response: StoredResponse
    /// Whether it ends with its session.
    package let isOfSession: Bool
}

extension ResponseStore {
    /// What a record holds; nil when it is gone or damaged.
    package func stored(_ use: CacheUse) -> StoredEntry? {
        cache.read(use) { record in
            guard let view = try? StoredView(record.header), let response = try? StoredResponse(view) else {
                return nil
            }
            return StoredEntry(response: response, isOfSession: record.storageClass != .permanent)
        }
    }

    /// The file of a body.
    package func path(of body: BlobReader) -> String { cache.blobs.path + "/" + body.reference.digest.path }
}

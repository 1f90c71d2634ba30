import TrawlCache
import TrawlHTTP

/// What an engine does around the rules, with records in memory and an origin that is a function.
struct MemoryEngine {
    /// What goes over the wire.
    struct Exchange {
        var head: ResponseHead
        var body: [UInt8]
        var interims: [UInt16] = []
    }

    /// What a caller gets; nil when the origin could not be reached.
    struct Answer {
        var head: ResponseHead
        var body: [UInt8]
        var interims: [UInt16] = []
        var source: ResultSource
    }

    private struct Record {
        var bytes: [UInt8]
        var body: [UInt8]
    }

    typealias Origin = (
        _ method: Method, _ target: TargetURI, _ fields: FieldLines, _ clock: inout WallTime
    ) -> Exchange?

    var now = noon
    /// How long each exchange takes.
    var latency: Int64 = 5
    private var records: [String: [Record]] = [:]

    mutating func fetch(_ request: CacheRequest, origin: Origin) -> Answer? {
        let (decision, index) = decide(request)
        switch decision {
        case .serve(let reuse):
            guard let index, let answer = answer(request.key, index, reuse) else { return nil }
            if reuse.revalidates {
                // In the background: the same request, validated.
                var policy = request.policy
                policy.options = [.askServerIfModified]
                let check = CacheRequest(
                    method: request.method, target: request.target, fields: request.fields, policy: policy,
                    tag: testTag)
                _ = fetch(check, origin: origin)
            }
            return answer
        case .unsatisfiable:
            return Answer(
                head: ResponseHead(status: 504, version: .http1_1, reason: "", fields: FieldLines()), body: [],
                source: .network)
        case .send(let sending):
            return send(request, sending, index, origin)
        }
    }

    private func decide(_ request: CacheRequest) -> (CacheDecision, Int?) {
        let list = records[request.key.text] ?? []
        var best: Int?
        for index in list.indices {
            let isBetter = list[index].bytes.withUnsafeBytes { bytes in
                guard let view = try? StoredView(bytes) else { return false }
                guard let best else { return rules.prefers(view, over: nil, for: request) }
                return list[best].bytes.withUnsafeBytes { rules.prefers(view, over: try? StoredView($0), for: request) }
            }
            if isBetter { best = index }
        }
        guard let best else { return (rules.lookup(request, stored: nil, at: now), nil) }
        let decision = list[best].bytes.withUnsafeBytes { rules.lookup(request, stored: try? StoredView($0), at: now) }
        return (decision, best)
    }

    private func answer(_ key: CacheKey, _ index: Int, _ reuse: Reuse) -> Answer? {
        guard let record = records[key.text]?[index] else { return nil }
        return record.bytes.withUnsafeBytes { bytes in
            guard let view = try? StoredView(bytes), let head = try? view.head(as: reuse) else { return nil }
            let range = reuse.bodyRange(of: view.facts.body)
            let body = range.map { Array(record.body[Int($0.lowerBound)..<Int($0.upperBound)]) } ?? []
            return Answer(head: head, body: body, source: reuse.source)
        }
    }

    private mutating func send(
        _ request: CacheRequest, _ sending: Sending, _ index: Int?, _ origin: Origin
    ) -> Answer? {
        let candidate = index.flatMap { index in
            records[request.key.text]?[index].bytes.withUnsafeBytes { bytes in
                (try? StoredView(bytes)).flatMap { try? StoredResponse($0) }
            }
        }
        let requestTime = now
        guard let exchange = origin(request.method, request.target, rules.fieldsToSend(request, sending), &now) else {
            if let index, let candidate,
                let reuse = rules.fallback(request, candidate, after: .unreachable, at: now)
            {
                return answer(request.key, index, reuse)
            }
            return nil
        }
        now = now.advanced(byMilliseconds: latency)
        if let index, let candidate {
            switch rules.conclude(
                request, sending, stored: candidate, exchange.head, requestTime: requestTime, responseTime: now)
            {
            case .freshened(let fresh, let reuse):
                let body = records[request.key.text]?[index].body ?? []
                if request.mayWrite {
                    records[request.key.text]?[index].bytes = fresh.encoded()
                }
                return present(fresh, body, reuse, exchange.interims)
            case .confirmed(let fresh, let reuse):
                return present(fresh, records[request.key.text]?[index].body ?? [], reuse, exchange.interims)
            case .completed(let combination, let reuse):
                let body = join(combination, records[request.key.text]?[index].body ?? [], exchange.body)
                records[request.key.text]?[index] = Record(bytes: combination.response.encoded(), body: body)
                return present(combination.response, body, reuse, exchange.interims)
            case .fallBack(let reuse):
                return answer(request.key, index, reuse)
            case .handOn:
                return Answer(head: exchange.head, body: exchange.body, interims: exchange.interims, source: .network)
            case .repeatPlain:
                records[request.key.text]?.remove(at: index)
                return fetch(request, origin: origin)
            case .replace:
                break
            }
        }
        afterwards(request, exchange, candidate, index, requestTime)
        return Answer(head: exchange.head, body: exchange.body, interims: exchange.interims, source: .network)
    }

    private func present(_ stored: StoredResponse, _ body: [UInt8], _ reuse: Reuse, _ interims: [UInt16]) -> Answer {
        let range = reuse.bodyRange(of: stored.facts.body)
        let part = range.map { Array(body[Int($0.lowerBound)..<Int($0.upperBound)]) } ?? []
        return Answer(head: stored.head(as: reuse), body: part, interims: interims, source: reuse.source)
    }

    private func join(_ combination: Combination, _ old: [UInt8], _ new: [UInt8]) -> [UInt8] {
        combination.pieces.flatMap { piece in
            switch piece {
            case .stored(let range): old[Int(range.lowerBound)..<Int(range.upperBound)]
            case .received(let range): new[Int(range.lowerBound)..<Int(range.upperBound)]
            }
        }
    }

    /// Invalidation, HEAD and storing.
    private mutating func afterwards(
        _ request: CacheRequest, _ exchange: Exchange, _ candidate: StoredResponse?, _ index: Int?,
        _ requestTime: WallTime
    ) {
        if let references = rules.invalidations(request, exchange.head) {
            records[request.key.text] = nil
            for reference in references {
                let named = resolve(reference, request.target)
                if rules.isInvalidated(named, by: request.target) { records[CacheKey(named).text] = nil }
            }
        }
        if rules.clearsStoredResponses(request, isLocal: false, exchange.head.fields) { records = [:] }
        if let index, let candidate {
            switch rules.updatedByHead(
                request, stored: candidate, exchange.head, requestTime: requestTime, responseTime: now)
            {
            case .freshened(let fresh): records[request.key.text]?[index].bytes = fresh.encoded()
            case .remove: records[request.key.text]?.remove(at: index)
            case .keep: break
            }
        }
        let decision = rules.storing(
            request, exchange.head, requestTime: requestTime, responseTime: now,
            resolving: { resolve($0, request.target) })
        guard case .store(let storing) = decision,
            var new = rules.finished(storing, received: UInt64(exchange.body.count), isComplete: true)
        else { return }
        var body = exchange.body
        for side in PartSide.allCases {
            guard let (stored, old) = neighbour(of: new, on: side), let combination = rules.combined(stored, new) else {
                continue
            }
            body = join(combination, old, body)
            new = combination.response
        }
        store(Record(bytes: new.encoded(), body: body), new)
    }

    private func neighbour(of part: StoredResponse, on side: PartSide) -> (StoredResponse, [UInt8])? {
        for record in records[part.key.text] ?? [] {
            let found = record.bytes.withUnsafeBytes { bytes in
                (try? StoredView(bytes)).flatMap { rules.neighbour($0, of: part, on: side) }
            }
            if let found { return (found, record.body) }
        }
        return nil
    }

    /// Stores a response in the place of those that it replaces, or freshens the one that holds it.
    private mutating func store(_ record: Record, _ response: StoredResponse) {
        var list = records[response.key.text] ?? []
        let fates = list.map { old in
            old.bytes.withUnsafeBytes { bytes in
                let view = try? StoredView(bytes)
                return view.map { rules.fate(of: $0, beside: response, at: response.facts.responseTime) } ?? .goes
            }
        }
        if fates.contains(.prevails) { return }
        for (index, fate) in fates.enumerated() {
            guard case .freshened(let fresh) = fate else { continue }
            records[response.key.text]?[index].bytes = fresh.encoded()
            return
        }
        for (index, fate) in fates.enumerated().reversed() where fate == .goes { list.remove(at: index) }
        records[response.key.text] = list + [record]
    }

    private func resolve(_ reference: String, _ base: TargetURI) -> TargetURI {
        if reference.contains("://") { return target(reference) }
        let root = base.origin.scheme + "://" + base.origin.host
        if reference.hasPrefix("/") { return target(root + reference) }
        if reference.isEmpty { return base }
        let folder = base.path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
        return target(root + folder + "/" + reference)
    }
}

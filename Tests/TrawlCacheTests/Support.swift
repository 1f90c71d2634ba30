import Testing
import TrawlCache
import TrawlHTTP

/// 2026-11-21 12:00:00 and a bit.
let noon = WallTime(milliseconds: 1_795_262_400_250)

/// A digest good enough for tests: FNV-1a, twice.
let testTag: @Sendable (UnsafeRawBufferPointer) -> SecretTag = { bytes in
    var high: UInt64 = 0xcbf2_9ce4_8422_2325
    var low: UInt64 = 0x9ae1_6a3b_2f90_404f
    for byte in bytes {
        high = (high ^ UInt64(byte)) &* 0x100_0000_01b3
        low = (low &* 0x100_0000_01b3) ^ UInt64(byte)
    }
    return SecretTag(high: high, low: low)
}

let rules = CacheRules(tag: testTag)

func fields(_ lines: [(String, String)]) -> FieldLines {
    var fields = FieldLines()
    for (name, value) in lines { try? fields.append(name, value) }
    return fields
}

func target(_ text: String = "http://example.org/a") -> TargetURI {
    let parts = text.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false).map(String.init)
    let path = "/" + (parts.count > 3 ? parts[3] : "")
    let scheme = String(parts[0].dropLast())
    let halves = path.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    return TargetURI(
        origin: Origin(scheme: scheme, host: parts[2], port: scheme == "https" ? 443 : 80), path: halves[0],
        query: halves.count > 1 ? halves[1] : nil, fragment: nil, user: nil, password: nil,
        text: scheme + "://" + parts[2] + path)
}

func request(
    _ lines: [(String, String)] = [], method: Method = .get, to url: String = "http://example.org/a",
    policy: CachePolicy = CachePolicy(), credentials: SecretTag? = nil, sharesCookies: Bool = false,
    partition: [UInt8] = [], hasBody: Bool = false, decodesContent: Bool = true
) -> CacheRequest {
    CacheRequest(
        method: method, target: target(url), fields: fields(lines), policy: policy, credentials: credentials,
        sharesCookies: sharesCookies, partition: partition, hasBody: hasBody, decodesContent: decodesContent,
        tag: testTag)
}

func head(_ lines: [(String, String)] = [], status: UInt16 = 200, reason: String = "OK") -> ResponseHead {
    ResponseHead(status: status, version: .http1_1, reason: reason, fields: fields(lines))
}

/// A date so many seconds from noon.
func date(_ seconds: Int64) -> String {
    HTTPDate.format(WallTime(seconds: noon.seconds + seconds))
}

func after(_ seconds: Int64) -> WallTime { noon.advanced(byMilliseconds: seconds * 1000) }

/// What a response becomes when it is stored at noon, with a body of `length` bytes.
func stored(
    _ lines: [(String, String)], status: UInt16 = 200, for request: CacheRequest = request(), length: UInt64 = 10,
    isComplete: Bool = true, at time: WallTime = noon
) -> StoredResponse? {
    let decision = rules.storing(
        request, head(lines, status: status), requestTime: time, responseTime: time,
        resolving: { $0.isEmpty ? request.target : target($0) })
    guard case .store(let storing) = decision else { return nil }
    return rules.finished(storing, received: length, isComplete: isComplete)
}

/// Why a response is not stored; nil when it is.
func refusal(
    _ lines: [(String, String)], status: UInt16 = 200, for request: CacheRequest = request()
) -> NoStoreReason? {
    let decision = rules.storing(
        request, head(lines, status: status), requestTime: noon, responseTime: noon,
        resolving: { $0.isEmpty ? request.target : target($0) })
    if case .no(let reason) = decision { return reason }
    return nil
}

/// Looks a request up against one stored response, or none.
func lookUp(_ request: CacheRequest, _ stored: StoredResponse?, at now: WallTime) -> CacheDecision {
    guard let stored else { return rules.lookup(request, stored: nil, at: now) }
    return stored.encoded().withUnsafeBytes { bytes in
        let view = try? StoredView(bytes)
        let isChosen = view.map { rules.prefers($0, over: nil, for: request) } ?? false
        let decision = rules.lookup(request, stored: isChosen ? view : nil, at: now)
        if isChosen, let view, rules.mustAsk(request, view.facts, at: now), case .serve = decision {
            Issue.record("who must ask is served")
        }
        return decision
    }
}

/// One word for a decision, for tables.
func word(_ decision: CacheDecision) -> String {
    switch decision {
    case .serve(let reuse):
        let form =
            switch reuse.form {
            case .whole: ""
            case .headOnly: " head"
            case .part(let range): " \(range.lowerBound)..<\(range.upperBound)"
            case .notModified: " 304"
            }
        return "\(reuse.source)\(form)\(reuse.revalidates ? " revalidating" : "")"
    case .send(let sending):
        switch sending.purpose {
        case .forward(let reason): return "forward \(reason)"
        case .validate: return "validate"
        case .complete(let place): return "complete \(place)"
        }
    case .unsatisfiable: return "unsatisfiable"
    }
}

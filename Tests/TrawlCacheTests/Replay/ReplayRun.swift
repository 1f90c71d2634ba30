import TrawlCache
import TrawlHTTP

/// One case, played from the first exchange to the last.
struct ReplayRun {
    enum Outcome: Equatable {
        case passed
        case failed(String)
        /// What only prepares did not work.
        case unprepared(String)
    }

    /// What reached the origin.
    private struct Logged {
        var number: Int
        var method: String
        var fields: FieldLines
        var responseLines: [(String, String)]
    }

    private let test: ReplayCase
    private let token = "0f8fad5b-d9cb-469f-a165-70867728950e"
    private var engine = MemoryEngine()
    private var log: [Logged] = []
    private var lastSent: [(String, String)] = []
    private var serverNow: Int64 = 0

    private init(_ test: ReplayCase) { self.test = test }

    static func outcome(of test: ReplayCase) -> Outcome {
        var run = ReplayRun(test)
        for (index, exchange) in test.exchanges.enumerated() {
            var failures = run.play(exchange, number: index + 1)
            if !failures.isEmpty {
                failures.sort { $0.check < $1.check }
                let text = failures.map { "\(index + 1): \($0.check): \($0.text)" }.joined(separator: "; ")
                let isSetup = failures.allSatisfy { exchange.isSetup || exchange.setupChecks.contains($0.check) }
                return isSetup ? .unprepared(text) : .failed(text)
            }
            if exchange.pauses { run.engine.now = run.engine.now.advanced(byMilliseconds: 3000) }
        }
        return .passed
    }

    private typealias Failure = (check: String, text: String)

    private func url(_ exchange: ReplayCase.Exchange) -> String {
        var text = "http://example.org/test/" + token
        if let name = exchange.fileName { text += "/" + name }
        if let query = exchange.query { text += "?" + query }
        return text
    }

    private mutating func play(_ exchange: ReplayCase.Exchange, number: Int) -> [Failure] {
        var lines: [(String, String)] = [("Req-Num", "\(number)"), ("Test-ID", test.id)]
        for line in exchange.requestLines {
            let base = exchange.usesServerNow ? serverNow / 1000 : engine.now.seconds
            lines.append((line.name, line.text ?? dateText(base + (line.seconds ?? 0), line.name, exchange)))
        }
        let request = CacheRequest(
            method: Method(exchange.method) ?? .get, target: target(url(exchange)), fields: fields(latin1: lines),
            hasBody: exchange.hasRequestBody, tag: testTag)
        let logged = log.count
        var engine = engine
        let answer = engine.fetch(request) { method, target, sent, clock in
            self.respond(method, target, sent, at: &clock)
        }
        self.engine = engine
        var failures = checkOrigin(exchange, number, Array(log[logged...]), answer)
        guard let answer else {
            if exchange.expectedType == "cached" { failures.append(("expected_type", "the origin failed")) }
            if exchange.checksStatus { failures.append(("expected_status", "the origin failed")) }
            return failures
        }
        serverNow = answer.head.fields.first("Server-Now").flatMap { Int64($0) } ?? serverNow
        failures += checkAnswer(exchange, number, answer)
        return failures
    }

    // MARK: The origin

    private mutating func respond(
        _ method: Method, _ target: TargetURI, _ sent: FieldLines, at now: inout WallTime
    ) -> MemoryEngine.Exchange? {
        let number = sent.first("Req-Num").flatMap { Int($0) } ?? 1
        let exchange = test.exchanges[number - 1]
        now = now.advanced(byMilliseconds: exchange.delay * 1000)
        var lines: [(String, String)] = []
        for line in exchange.responseLines {
            var text = line.text ?? dateText(now.seconds + (line.seconds ?? 0), line.name, exchange)
            if exchange.hasMagicLocations, ["location", "content-location"].contains(line.name.lowercased()) {
                text = text.isEmpty ? target.path : target.path + "/" + text
            }
            lines.append((line.name, text))
        }
        log.append(Logged(number: number, method: method.name, fields: sent, responseLines: lines))
        if exchange.disconnects { return nil }
        var status = exchange.status
        if let type = exchange.expectedType, type.hasSuffix("validated") {
            let tag = lastSent.first { $0.0.lowercased() == "etag" }?.1
            let modified = lastSent.first { $0.0.lowercased() == "last-modified" }?.1
            let isKnown =
                tag != nil && sent.latin1("If-None-Match") == tag
                || modified != nil && sent.first("If-Modified-Since") == modified
            status = isKnown ? 304 : 999
        }
        lastSent = lines
        var all = lines
        all.append(("Server-Base-Url", target.path))
        all.append(("Server-Request-Count", "\(log.count)"))
        all.append(("Client-Request-Count", "\(number)"))
        all.append(("Server-Now", "\(now.milliseconds)"))
        all.append(("Request-Numbers", log.map { "\($0.number)" }.joined(separator: " ")))
        let names = Set(all.map { $0.0.lowercased() })
        if !names.contains("content-type") { all.append(("Content-Type", "text/plain")) }
        if !names.contains("date") { all.append(("Date", HTTPDate.format(now))) }
        let hasNoBody = method == .head || status == 204 || status == 304
        let body = hasNoBody ? [] : Array((exchange.body ?? token).utf8)
        if !hasNoBody, !names.contains("content-length") { all.append(("Content-Length", "\(body.count)")) }
        return MemoryEngine.Exchange(
            head: ResponseHead(status: status, version: .http1_1, reason: exchange.reason, fields: fields(latin1: all)),
            body: body, interims: exchange.interims)
    }

    private func dateText(_ seconds: Int64, _ name: String, _ exchange: ReplayCase.Exchange) -> String {
        let text = HTTPDate.format(WallTime(seconds: seconds))
        guard exchange.rfc850.contains(name.lowercased()) else { return text }
        let days = ["Mon": "Monday", "Tue": "Tuesday", "Wed": "Wednesday", "Thu": "Thursday", "Fri": "Friday"]
        let parts = text.split(separator: " ").map(String.init)
        let day = parts[0].dropLast()
        let name = days[String(day)] ?? (day == "Sat" ? "Saturday" : "Sunday")
        return "\(name), \(parts[1])-\(parts[2])-\(parts[3].suffix(2)) \(parts[4]) GMT"
    }

    // MARK: Checks

    private func checkOrigin(
        _ exchange: ReplayCase.Exchange, _ number: Int, _ reached: [Logged], _ answer: MemoryEngine.Answer?
    ) -> [Failure] {
        var failures: [Failure] = []
        let logged = reached.last { $0.number == number }
        switch exchange.expectedType {
        case "cached": return []
        case "not_cached":
            if logged == nil { failures.append(("expected_type", "the origin was not asked")) }
        case "etag_validated":
            if logged?.fields.contains("If-None-Match") != true {
                failures.append(("expected_type", "no If-None-Match"))
            }
        case "lm_validated":
            if logged?.fields.contains("If-Modified-Since") != true {
                failures.append(("expected_type", "no If-Modified-Since"))
            }
        default: break
        }
        guard let logged else {
            if !exchange.expectedRequestLines.isEmpty || exchange.expectedMethod != nil {
                failures.append(("expected_request_headers", "the origin was not asked"))
            }
            return failures
        }
        if let method = exchange.expectedMethod, logged.method != method {
            failures.append(("expected_method", logged.method))
        }
        for expectation in exchange.expectedRequestLines where !holds(expectation, logged.fields, exact: true) {
            failures.append(("expected_request_headers", "\(expectation)"))
        }
        for expectation in exchange.unexpectedRequestLines where holds(expectation, logged.fields, exact: true) {
            failures.append(("expected_request_headers_missing", "\(expectation)"))
        }
        guard let answer else { return failures }
        for (line, sent) in zip(exchange.responseLines, logged.responseLines)
        where line.isChecked && line.name.lowercased() != "date" {
            let all = logged.responseLines.filter { $0.0.lowercased() == line.name.lowercased() }.map(\.1)
            if answer.head.fields.latin1(sent.0) != all.joined(separator: ", ") {
                failures.append(("response_headers", sent.0))
            }
        }
        return failures
    }

    private func checkAnswer(
        _ exchange: ReplayCase.Exchange, _ number: Int, _ answer: MemoryEngine.Answer
    ) -> [Failure] {
        var failures: [Failure] = []
        let received = answer.head.fields
        let count = received.first("Server-Request-Count").flatMap { Int($0) }
        if exchange.expectedType == "cached" {
            if count.map({ $0 >= number }) ?? (answer.head.status != 304) {
                failures.append(("expected_type", "not reused"))
            }
        } else if exchange.expectedType == "not_cached", count != number {
            failures.append(("expected_type", "reused"))
        }
        if exchange.checksStatus, answer.head.status != exchange.expectedStatus {
            failures.append(("expected_status", "\(answer.head.status)"))
        }
        for expectation in exchange.expectedLines where !holds(expectation, received, exact: false) {
            failures.append(("expected_response_headers", "\(expectation)"))
        }
        for expectation in exchange.unexpectedLines {
            let isThere: Bool
            if case .equal(let name, let value) = expectation {
                isThere = received.latin1(name)?.contains(value) ?? false
            } else {
                isThere = holds(expectation, received, exact: false)
            }
            if isThere { failures.append(("expected_response_headers_missing", "\(expectation)")) }
        }
        if exchange.checksText {
            let isEmpty = answer.head.status == 204 || answer.head.status == 304 || exchange.method == "HEAD"
            let expected = exchange.expectedText ?? (isEmpty ? "" : exchange.body ?? token)
            let text = String(decoding: answer.body, as: UTF8.self)
            if text != expected { failures.append(("expected_response_text", text)) }
        }
        if let interims = exchange.expectedInterims, interims != answer.interims {
            failures.append(("expected_interim_responses", "\(answer.interims)"))
        }
        return failures
    }

    private func holds(_ expectation: ReplayCase.Expectation, _ fields: FieldLines, exact: Bool) -> Bool {
        switch expectation {
        case .present(let name): return fields.contains(name)
        case .equal(let name, let value): return fields.latin1(name) == value
        case .same(let name, let other): return fields.latin1(name) == fields.latin1(other)
        case .greater(let name, let number):
            return fields.first(name).flatMap { Int64($0) }.map { $0 > number } ?? false
        }
    }

    /// Each character of a value is one byte.
    private func fields(latin1 lines: [(String, String)]) -> FieldLines {
        var fields = FieldLines()
        for (name, value) in lines {
            let bytes = value.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
            Array(name.utf8).withUnsafeBytes { name in
                bytes.withUnsafeBytes { try? fields.append(name: name, value: $0) }
            }
        }
        return fields
    }
}

extension FieldLines {
    /// All lines of that name joined, one character for each byte.
    func latin1(_ name: String) -> String? {
        var found: [String] = []
        forEach { lineName, value in
            if FieldSyntax.equalIgnoringCase(lineName, name) { found.append(FieldLines.latin1(value)) }
        }
        return found.isEmpty ? nil : found.joined(separator: ", ")
    }
}

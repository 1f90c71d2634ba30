import Foundation
import Testing
import Trawl

/// The error of a fetch that must fail; a response is recorded as an issue.
@discardableResult
func failure(
    _ code: FetchError.Code? = nil, sourceLocation: SourceLocation = #_sourceLocation,
    of fetch: () async throws -> Response
) async -> FetchError? {
    do {
        let response = try await fetch()
        Issue.record(
            "a failure was expected, not status \(response.status) with \(response.receivedLength) bytes",
            sourceLocation: sourceLocation)
        return nil
    } catch let error as FetchError {
        if let code {
            #expect(error.code == code, "\(error)", sourceLocation: sourceLocation)
        }
        return error
    } catch {
        Issue.record(error, sourceLocation: sourceLocation)
        return nil
    }
}

/// What `/anything` saw of a request.
struct SeenRequest: Decodable {
    let method: String
    let target: String
    let version: String
    let fields: [[String]]
    let bodyLength: Int
    let bodyFNV1a64: String
    /// In Base64; nil where it is long.
    let body: String?

    /// The values of all field lines of a name.
    func values(_ name: String) -> [String] {
        fields.filter { $0[0].lowercased() == name.lowercased() }.map { $0[1] }
    }

    /// The value of the only field line of a name; nil when there is none or more than one.
    func value(_ name: String) -> String? {
        let values = values(name)
        return values.count == 1 ? values[0] : nil
    }
}

extension Response {
    /// The request as the origin's `/anything` describes it.
    func seen() throws -> SeenRequest {
        try JSONDecoder().decode(SeenRequest.self, from: Data(body.bytes))
    }

    /// The body as text.
    var bodyText: String { String(decoding: body.bytes, as: UTF8.self) }
}

/// The events of a fetch in short words, for comparing their order.
func word(_ event: FetchEvent) -> String {
    switch event {
    case .started: "started"
    case .attempt(let number): "attempt \(number)"
    case .interim(let head): "interim \(head.status)"
    case .waitingForConnectivity: "waiting"
    case .forwarded: "forwarded"
    case .retrying(let attempt): "retrying \(attempt.number)"
    case .authenticating(let report, _): "authenticating \(report.scheme)"
    case .redirected(let hop): "redirected \(hop.status)"
    case .head(let head): "head \(head.status)"
    case .resumedAtOffset(let offset): "resumed at \(offset)"
    case .data: "data"
    case .progress: "progress"
    case .ended(.success): "ended"
    case .ended(.failure(let error)): "failed \(error.code.rawValue)"
    }
}

/// Reads all events of a fetch.
func allEvents(of fetch: Fetch) async -> [FetchEvent] {
    var events: [FetchEvent] = []
    for await event in fetch.events { events.append(event) }
    return events
}

/// Reads a fetch into a stream to its end.
func readStream(_ fetch: Fetch) async throws -> [UInt8] {
    var bytes: [UInt8] = []
    for await event in fetch.events {
        switch event {
        case .data(let piece): bytes += piece
        case .ended(let result): _ = try result.get()
        default: break
        }
    }
    return bytes
}

/// An expectation for the body of an exit test, whose process reports that something failed, but not what.
func expectInChild(
    _ condition: Bool, _ message: @autoclosure () -> String, sourceLocation: SourceLocation = #_sourceLocation
) {
    if condition { return }
    let message = message()
    FileHandle.standardError.write(Data("\(sourceLocation): \(message)\n".utf8))
    Issue.record(Comment(rawValue: message), sourceLocation: sourceLocation)
}

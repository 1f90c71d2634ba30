import Foundation
import TestSupport
import TrawlCache
import TrawlHTTP
import TrawlPlatform
import TrawlStore

@testable import TrawlCommand

/// A store in a directory of its own, both gone at the end.
final class StoreFixture {
    struct Refused: Error {}

    /// When responses are stored, unless a test says otherwise.
    static let time = WallTime(seconds: 1_795_266_000)

    let path: String
    let responses: ResponseStore

    init(budget: UInt64 = 64 << 20) throws {
        var template = TemporaryName.template("store")
        guard mkdtemp(&template) != nil else { throw SystemError(errno: errno, call: "mkdtemp") }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        var settings = CacheSettings()
        settings.budget = budget
        responses = try ResponseStore.open(directory: path + "/store", settings: settings)
    }

    deinit {
        responses.cache.close()
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Stores a response to a GET.
    ///
    /// - Parameter url: The text of the key; it may be one that no URL has.
    func store(
        _ url: String, _ body: [UInt8] = Array("body".utf8), status: UInt16 = 200,
        _ fields: [(String, String)] = [("Cache-Control", "max-age=60")], request: [(String, String)] = [],
        session: SessionID? = nil, at time: WallTime = time
    ) throws {
        let target =
            TargetURI(key: CacheKey(text: url))
            ?? TargetURI(
                origin: Origin(scheme: "http", host: "h", port: 80), text: url, pathStart: url.utf8.count,
                queryStart: nil)
        let asked = CacheRequest(
            method: .get, target: target, fields: try Self.lines(request), tag: responses.rules.tag)
        let head = ResponseHead(status: status, version: .http1_1, reason: "OK", fields: try Self.lines(fields))
        guard
            case .store(let storing) = responses.rules.storing(
                asked, head, requestTime: time, responseTime: time, resolving: { _ in nil }),
            let response = responses.rules.finished(storing, received: UInt64(body.count), isComplete: true)
        else { throw Refused() }
        let spool = BodySpool(in: responses.cache.blobs, longest: responses.cache.longestBody)
        body.withUnsafeBytes { spool.append($0) }
        guard let spooled = spool.finish() else { throw Refused() }
        let record = responses.record(
            of: response, body: spooled, session.map { .session($0) } ?? .permanent, replacing: [], at: time)
        guard case .stored = responses.cache.perform(.append(record)) else { throw Refused() }
    }

    /// Changes a byte of a stored body behind the store's back, in the tables or in its file.
    func damage(_ body: [UInt8]) throws {
        let cache = path + "/store/cache"
        let part = Data(body[1000..<1100])
        // Others there are the locks of this process, which go when they are closed.
        for name in try FileManager.default.subpathsOfDirectory(atPath: cache)
        where name == "data.mdb" || name.hasPrefix("blobs/") {
            let file = cache + "/" + name
            guard let data = FileManager.default.contents(atPath: file), let place = data.range(of: part)?.lowerBound
            else { continue }
            guard chmod(file, 0o600) == 0, let handle = FileHandle(forUpdatingAtPath: file) else { throw Refused() }
            try handle.seek(toOffset: UInt64(place))
            try handle.write(contentsOf: [~data[place]])
            try handle.close()
            return
        }
        throw Refused()
    }

    /// What lists show.
    func listings() throws -> [StoredListing] {
        var all: [StoredListing] = []
        try responses.forEach(pageSize: 3, failure: { $0 }) { (listing) throws(StoreError) in
            all.append(listing)
            return true
        }
        return all
    }

    private static func lines(_ fields: [(String, String)]) throws -> FieldLines {
        var lines = FieldLines()
        for (name, value) in fields { try lines.append(name, value) }
        return lines
    }
}

import Foundation
import Glibc
import Testing

/// A list, its results and its output directory, and the command to run on them again and again.
final class BatchBed: Sendable {
    /// A request of the list and what must become of it.
    struct Item: Sendable {
        let line: String
        /// The URL its record names.
        let url: String
        /// The body of its file; nil when it has none.
        let body: [UInt8]?
        /// Whether its record says that it was fetched.
        var isFetched = true

        /// A URL that is fetched, with this body.
        init(_ url: String, body: [UInt8]?) {
            line = url
            self.url = url
            self.body = body
        }

        init(line: String, url: String, body: [UInt8]?, isFetched: Bool = true) {
            self.line = line
            self.url = url
            self.body = body
            self.isFetched = isFetched
        }
    }

    /// One record of the results, read by a parser that is not ours.
    ///
    /// `@unchecked Sendable` holds because its values are those of JSON, which nobody changes.
    struct Record: @unchecked Sendable {
        let members: [String: Any]
        var line: Int? { members["line"] as? Int }
        var url: String? { members["url"] as? String }
        var key: String? { members["key"] as? String }
        var isFetched: Bool? { members["ok"] as? Bool }
        var status: Int? { members["status"] as? Int }
        var file: String? { members["file"] as? String }
        var attempts: Int? { members["attempts"] as? Int }
        var code: String? { (members["error"] as? [String: Any])?["code"] as? String }
        var message: String? { (members["error"] as? [String: Any])?["message"] as? String }
    }

    let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    var list: String { directory.file("list") }
    var results: String { directory.file("results") }
    var out: String { directory.file("out") }
    var errors: String { String(decoding: directory.content("errors") ?? [], as: UTF8.self) }

    func putList(_ lines: [String]) throws {
        try directory.put("list", Array(lines.map { $0 + "\n" }.joined().utf8))
    }

    /// Arguments of a run on the list.
    func arguments(_ more: [String] = []) -> [String] {
        ["batch", list, "--out", out, "--results", results, "--workers", "2"] + more
    }

    /// Starts a run.
    ///
    /// - Parameter leadsGroup: Whether it gets a process group of its own, which can be killed as one.
    func start(_ more: [String] = [], leadsGroup: Bool = false) throws -> ChildProcess {
        // With a list that is a file it does not care for its input, as servers do not.
        try ChildProcess(
            try BuiltProducts.trawl(), arguments(more), errors: directory.file("errors"), isServer: leadsGroup)
    }

    /// A whole run.
    func run(_ more: [String] = []) throws -> CommandRun { try CommandRun(arguments(more)) }

    /// The records so far: whole lines alone.
    func records() throws -> [Record] {
        let bytes = directory.content("results") ?? []
        let whole = bytes.lastIndex(of: 0x0A).map { bytes[...$0] } ?? []
        return try whole.split(separator: 0x0A).map { line in
            let value = try JSONSerialization.jsonObject(with: Data(line))
            return Record(members: try #require(value as? [String: Any]))
        }
    }

    /// How many records there are; each line feed ends one.
    func recordCount() -> Int { directory.content("results")?.count { $0 == 0x0A } ?? 0 }

    /// All files beneath the output directory, unfinished ones included.
    func files() throws -> [String] {
        guard let names = FileManager.default.enumerator(atPath: out) else { return [] }
        var result: [String] = []
        for case let name as String in names {
            var info = stat()
            guard lstat(out + "/" + name, &info) == 0 else { continue }
            if info.st_mode & S_IFMT != S_IFDIR { result.append(name) }
        }
        return result.sorted()
    }

    /// Checks that each request has exactly one record, each file the right bytes, and that there is nothing else.
    ///
    /// - Parameter mayShare: Whether requests of one URL may have one file. Then the one that a worker made before it died
    ///   may be nobody's: the request that is made again finds another file of the same bytes first.
    func expectComplete(_ items: [Item], mayShare: Bool = false, sourceLocation: SourceLocation = #_sourceLocation)
        throws
    {
        let records = try records()
        var wanted: [String: [Item]] = [:]
        for item in items { wanted[item.url, default: []].append(item) }
        var files: [String: String] = [:]
        var wrong: [String] = []
        // Bodies of requests that have another's file.
        var spared: [[UInt8]] = []
        for record in records {
            let url = record.url ?? ""
            guard var left = wanted[url], let item = left.popLast() else {
                wrong.append("a record too many of \(url)")
                continue
            }
            wanted[url] = left.isEmpty ? nil : left
            if record.isFetched != item.isFetched { wrong.append("\(url): \(record.members)") }
            guard let body = item.body else {
                if let file = record.file { wrong.append("\(url): a file \(file)") }
                continue
            }
            guard let file = record.file else {
                wrong.append("\(url): no file, \(record.members)")
                continue
            }
            if let other = files.updateValue(url, forKey: file) {
                if mayShare, other == url {
                    spared.append(body)
                } else {
                    wrong.append("\(file) belongs to two records")
                }
            }
            let bytes = FileManager.default.contents(atPath: out + "/" + file).map(Array.init)
            if bytes != body { wrong.append("\(file): \(bytes?.count ?? -1) bytes, not the \(body.count) wanted") }
        }
        for url in wanted.keys { wrong.append("no record of \(url)") }
        let others = try Set(self.files()).subtracting(files.keys)
        for file in others {
            let bytes = FileManager.default.contents(atPath: out + "/" + file).map(Array.init)
            if let place = spared.firstIndex(where: { $0 == bytes }) {
                spared.remove(at: place)
            } else {
                wrong.append("\(file): nobody's")
            }
        }
        #expect(wrong.isEmpty, "\(wrong.count) wrong: \(wrong.prefix(5))", sourceLocation: sourceLocation)
        #expect(records.count == items.count, sourceLocation: sourceLocation)
    }
}

extension ProcessTree {
    /// Whether a process runs that may be no child of this one; a dead one may wait long for its new parent.
    static func isRunning(_ pid: Int32) -> Bool {
        state(of: pid).map { $0 != "Z" && $0 != "X" } ?? false
    }
}

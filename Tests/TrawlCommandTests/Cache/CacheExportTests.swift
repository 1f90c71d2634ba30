import Foundation
import TestSupport
import Testing
import TrawlHTTP
import TrawlPlatform
import TrawlStore

@testable import TrawlCommand

@Suite("trawl cache export")
struct CacheExportTests {
    /// Exports everything.
    /// - Returns: The export and the files beneath its directory with their bytes.
    private func export(
        _ fixture: StoreFixture, decodes: Bool = true, namesByKey: Bool = false
    ) throws -> (export: CacheExport, index: String, files: [String: [UInt8]]) {
        let out = fixture.path + "/out"
        try FileManager.default.createDirectory(atPath: out, withIntermediateDirectories: true)
        let export = try CacheExport(
            into: OutputRoot(path: out), decodes: decodes, namesByKey: namesByKey, at: StoreFixture.time)
        for listing in try fixture.listings() { try export.add(listing, from: fixture.responses) }
        let index = try export.finish()
        var files: [String: [UInt8]] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: out) {
            var isDirectory: ObjCBool = false
            _ = FileManager.default.fileExists(atPath: out + "/" + name, isDirectory: &isDirectory)
            if !isDirectory.boolValue {
                files[name] = FileManager.default.contents(atPath: out + "/" + name).map(Array.init)
            }
        }
        return (export, index, files)
    }

    @Test("bodies become files as in a batch, each with its line in the index")
    func files() throws {
        let fixture = try StoreFixture()
        let long = (0..<100_000).map { UInt8(truncatingIfNeeded: $0) }
        try fixture.store("http://h/a/", [1])
        try fixture.store("http://h:81/b?c=d/e", long)
        try fixture.store("http://h/empty", [])
        try fixture.store("http://h/gone", [], status: 404)
        let (export, index, files) = try export(fixture)
        #expect(export.responses == 4 && export.files == 3 && export.failed == 0 && export.bytes == 100_001)
        #expect(Set(files.keys) == ["h/a/index.html", "h_81/b?c=d%2fe", "h/empty", "index.ndjson"])
        #expect(files["h/a/index.html"] == [1] && files["h_81/b?c=d%2fe"] == long && files["h/empty"] == [])
        let lines = try #require(files[index]).split(separator: 0x0A).map { String(decoding: $0, as: UTF8.self) }
        #expect(lines.count == 4 && lines.allSatisfy { $0.hasPrefix(#"{"v":1,"url":"http://h"#) })
        #expect(lines[0].hasSuffix(#""file":"h/a/index.html","bytes":1}"#) && !lines[3].contains("file"))
    }

    @Test("by key, files lie in one directory, whatever their URLs are")
    func byKey() throws {
        let fixture = try StoreFixture()
        for (url, byte) in [("http://h/a/b.png", 1), ("http://h/../../x.php?y", 2), ("http://h/\u{0}", 3)]
            as [(String, UInt8)]
        {
            try fixture.store(url, [byte])
        }
        let (export, index, files) = try export(fixture, namesByKey: true)
        #expect(export.files == 3 && export.failed == 0 && files.count == 4)
        let names = files.keys.filter { $0 != index }
        #expect(names.allSatisfy { !$0.contains("/") && $0.utf8.count > 64 }, "\(names)")
        #expect(Set(names.map { $0.drop { $0 != "." } }) == [".png", ".html"])
        #expect(Set(names.compactMap { files[$0] }) == [[1], [2], [3]])
        // The same again is the same.
        #expect(try self.export(fixture, namesByKey: true).files.count == 5)
    }

    @Test("the same again writes nothing anew, and other bytes get a number")
    func again() throws {
        let fixture = try StoreFixture()
        try fixture.store("http://h/a", [1])
        _ = try export(fixture)
        #expect(try export(fixture).index == "index.ndjson.1")
        #expect(fixture.responses.cache.perform(.removeMatching(CacheFilter())) == .removed(1))
        try fixture.store("http://h/a", [2])
        let files = try export(fixture).files
        #expect(files["h/a"] == [1] && files["h/a.1"] == [2] && files["h/a.2"] == nil)
    }

    @Test(
        "no key leads out of the directory, or in the way of the index",
        arguments: [
            "http://h/../../../../../../tmp/x", "http://../x", "http://h/..", "http://./x", "http://h//etc/passwd",
            "http://index.ndjson/a", "http://h/\u{0}", "http://h/a\nb",
            "http://h/\(String(repeating: "x", count: 9000))",
            "http://.ssh/authorized_keys", "http://h\\..\\x/",
        ])
    func hostile(url: String) throws {
        let fixture = try StoreFixture()
        try fixture.store(url, [7])
        let before = try FileManager.default.subpathsOfDirectory(atPath: fixture.path).filter { !$0.hasPrefix("out") }
        let (export, _, files) = try export(fixture)
        #expect(export.files == 1 && files.count == 2 && files.values.contains([7]), "\(files.keys)")
        #expect(files.keys.allSatisfy { !$0.hasPrefix(".") && !$0.contains("/.") }, "\(files.keys)")
        let after = try FileManager.default.subpathsOfDirectory(atPath: fixture.path).filter { !$0.hasPrefix("out") }
        #expect(before.sorted() == after.sorted())
    }

    @Test("a link in the way is not followed")
    func links() throws {
        let fixture = try StoreFixture()
        try fixture.store("http://h/a", [7])
        for name in ["out", "elsewhere"] {
            try FileManager.default.createDirectory(
                atPath: fixture.path + "/" + name, withIntermediateDirectories: true)
        }
        try FileManager.default.createSymbolicLink(
            atPath: fixture.path + "/out/h", withDestinationPath: fixture.path + "/elsewhere")
        #expect(try export(fixture).files["h%2Fa"] == [7])
        #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.path + "/elsewhere").isEmpty)
    }

    @Test(
        "a damaged body leaves no file and a word in the index, in the tables or in a file of its own",
        arguments: [5000, 20_000])
    func damaged(length: Int) throws {
        let fixture = try StoreFixture()
        var random = SeededGenerator(seed: 4)
        let body = random.bytes(length)
        try fixture.store("http://h/a", body)
        try fixture.store("http://h/b", [1])
        try fixture.damage(body)
        let (export, index, files) = try export(fixture)
        #expect(export.responses == 2 && export.files == 1 && export.failed == 1)
        let lines = String(decoding: try #require(files[index]), as: UTF8.self)
        #expect(lines.contains(#""error":"the stored body was damaged, and is removed""#), "\(lines)")
    }

    @Test("a broken coding leaves no file and a word in the index; as it is, it can be had")
    func brokenCoding() throws {
        let fixture = try StoreFixture()
        try fixture.store("http://h/a", [1, 2, 3], [("Cache-Control", "max-age=60"), ("Content-Encoding", "gzip")])
        let (export, index, files) = try export(fixture)
        #expect(export.failed == 1 && export.files == 0 && files.count == 1)
        let line = String(decoding: try #require(files[index]), as: UTF8.self)
        #expect(line.contains(#""error":""#))
        #expect(try self.export(fixture, decodes: false).files["h/a"] == [1, 2, 3])
    }
}

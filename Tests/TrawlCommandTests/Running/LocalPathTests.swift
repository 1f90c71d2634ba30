import Glibc
import TestSupport
import Testing
import TrawlPlatform

@testable import TrawlCommand

@Suite("Paths on disk")
struct LocalPathTests {
    private func withDirectory<Value>(_ body: (String) throws -> Value) throws -> Value {
        var template = TemporaryName.template("command")
        guard mkdtemp(&template) != nil else { throw SystemError(errno: errno, call: "mkdtemp") }
        let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        defer {
            for name in ["a/b/c", "a/b", "a", "file"] { remove(path + "/" + name) }
            remove(path)
        }
        return try body(path)
    }

    @Test("directories are made with those above them, again and again")
    func makeDirectories() throws {
        try withDirectory { path in
            try LocalPath.makeDirectories(path + "/a/b/c")
            try LocalPath.makeDirectories(path + "/a/b/c")
            var info = stat()
            #expect(stat(path + "/a/b/c", &info) == 0 && info.st_mode & S_IFMT == S_IFDIR)
        }
    }

    @Test("parents and joined names")
    func parents() throws {
        #expect(LocalPath.parent("/a/b") == "/a")
        #expect(LocalPath.parent("/a") == "/")
        #expect(LocalPath.parent("a") == ".")
        #expect(LocalPath.joined("/", "a") == "/a")
        #expect(try LocalPath.absolute("/x", in: "/y") == "/x")
        #expect(try LocalPath.absolute("x", in: "/y") == "/y/x")
    }

    @Test("what lies beneath a directory is named from there, and nothing else is")
    func relative() {
        let cases: [(path: String, directory: String?, name: String)] = [
            ("/out/a/b", "/out", "a/b"), ("/out/a", "/out/", "a"), ("/a", "/", "a"), ("/out/", "/out", ""),
            ("/out/../a", "/out", "../a"), ("/out//a", "/out", "/a"), ("/outer/a", "/out", "/outer/a"),
            ("/out", "/out", "/out"), ("/other/a", "/out", "/other/a"), ("out/a", "/out", "out/a"),
            ("/e\u{301}/a", "/\u{E9}", "/e\u{301}/a"), ("/a", "", "/a"), ("/a", nil, "/a"), ("", "/out", ""),
        ]
        for (path, directory, name) in cases {
            #expect(Array(LocalPath.relative(path, to: directory).utf8) == Array(name.utf8), "\(path)")
        }
    }

    @Test("a file appears when it is finished, and not before or else")
    func bodyWriter() throws {
        try withDirectory { path in
            let file = path + "/file"
            let abandoned = try BodyWriter.file(file, replaces: true)
            try [UInt8]("x".utf8).withUnsafeBytes { try abandoned.write($0) }
            abandoned.abandon()
            #expect(access(file, F_OK) != 0)
            let finished = try BodyWriter.file(file, replaces: true)
            try finished.finish()
            #expect(access(file, F_OK) == 0)
            #expect(throws: SystemError(errno: EEXIST, call: "open")) { try BodyWriter.file(file, replaces: false) }
            #expect(throws: SystemError(errno: EISDIR, call: "open")) { try BodyWriter.file(path, replaces: true) }
        }
    }

    @Test("a device is written to, not replaced")
    func device() throws {
        let writer = try BodyWriter.file("/dev/null", replaces: true)
        try [UInt8]("x".utf8).withUnsafeBytes { try writer.write($0) }
        try writer.finish()
        var info = stat()
        #expect(stat("/dev/null", &info) == 0 && info.st_mode & S_IFMT == S_IFCHR)
    }

    @Test("messages show no user information of a URL")
    func shown() {
        #expect(FailureText.url("http://u:p@h/x@y") == "http://h/x@y")
        #expect(FailureText.url("http://h/\u{1b}") == "http://h/\\u{1b}")
        #expect(FailureText.url("http://a@b@h?x") == "http://h?x")
    }
}

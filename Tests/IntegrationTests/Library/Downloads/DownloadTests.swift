import Foundation
import Glibc
import Testing
import Trawl

/// Where a file goes: beneath an output directory, where a worker makes it, or elsewhere, where the coordinator does.
enum Place: Sendable, CaseIterable, CustomTestStringConvertible {
    case outputDirectory
    case elsewhere

    var testDescription: String {
        switch self {
        case .outputDirectory: "beneath an output directory"
        case .elsewhere: "elsewhere"
        }
    }
}

@Suite("Bodies become files as a whole or not at all, ASI-DL-01, 04, 05, 07, 08", .bed())
struct DownloadTests {
    /// A directory of a test's own, removed with the suite.
    struct Folder {
        let path: String
        let bed: Bed

        func file(_ name: String) -> String { path + "/" + name }
        func content(_ name: String) -> [UInt8]? { FileManager.default.contents(atPath: file(name)).map(Array.init) }
        func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: path).sorted() }
        func put(_ name: String, _ text: String) throws {
            try Data(text.utf8).write(to: URL(fileURLWithPath: file(name)))
        }
        /// Expects exactly these files, now or soon: a worker may still be cleaning up.
        func expect(_ names: [String], sourceLocation: SourceLocation = #_sourceLocation) async throws {
            let isSo = try await eventually(within: .seconds(30)) { try self.names() == names.sorted() }
            let found = try self.names()
            #expect(isSo, "found \(found)", sourceLocation: sourceLocation)
        }
    }

    private func folder(_ place: Place, _ name: String = #function) throws -> Folder {
        let bed = try Bed.current
        let base = place == .outputDirectory ? "out/" : "elsewhere/"
        return Folder(
            path: try bed.directory.makeDirectory(base + name.filter(\.isLetter) + "-\(UInt32.random(in: 0 ... .max))"),
            bed: bed)
    }

    @Test("the file holds the body", .timeLimit(.minutes(3)), arguments: Place.allCases, Engine.allCases)
    func content(place: Place, engine: Engine) async throws {
        let folder = try folder(place)
        for count in [1, 1000, 64 << 10, (64 << 10) + 1, 5 << 20] {
            let response = try await folder.bed.get(
                "/bytes/\(count)?seed=3", into: .file(folder.file("\(count)")), on: engine)
            #expect(response.file == folder.file("\(count)"))
            #expect(response.receivedLength == UInt64(count))
            #expect(response.body.isEmpty)
            #expect(folder.content("\(count)") == ReferenceBytes.bytes(count, seed: 3))
        }
        try await folder.expect(["1", "1000", "65536", "65537", "5242880"])
    }

    @Test(
        "an earlier file is replaced as a whole, and never seen half", .timeLimit(.minutes(3)),
        arguments: Place.allCases)
    func replaces(place: Place) async throws {
        let folder = try folder(place)
        try folder.put("page", "earlier")
        let fetch = folder.bed.coordinator.start(
            Request(folder.bed.url("/bytes/400000?rate=1000000&seed=2")), into: .file(folder.file("page")))
        var sizes: Set<Int> = []
        let isWhole = try await eventually {
            sizes.insert(folder.content("page")?.count ?? -1)
            return try sizes.contains(400_000) && folder.names() == ["page"]
        }
        #expect(isWhole && sizes.isSubset(of: [7, 400_000]), "\(sizes)")
        _ = try await fetch.response
        #expect(folder.content("page") == ReferenceBytes.bytes(400_000, seed: 2))
    }

    @Test("an earlier file stays when it must not be replaced", .timeLimit(.minutes(3)), arguments: Place.allCases)
    func keepsEarlier(place: Place) async throws {
        let folder = try folder(place)
        try folder.put("page", "earlier")
        var options = Destination.FileOptions()
        options.replaces = false
        await failure(.file) {
            try await folder.bed.get("/bytes/100", into: .file(folder.file("page"), options: options))
        }
        #expect(folder.content("page") == Array("earlier".utf8))
        let fresh = try await folder.bed.get("/bytes/100", into: .file(folder.file("fresh"), options: options))
        #expect(fresh.file == folder.file("fresh"))
        try await folder.expect(["page", "fresh"])
    }

    @Test(
        "of fetches that race for a name and must not replace, one wins", .timeLimit(.minutes(3)),
        arguments: Place.allCases)
    func raceForName(place: Place) async throws {
        let folder = try folder(place)
        var options = Destination.FileOptions()
        options.replaces = false
        let destination = Destination.file(folder.file("page"), options: options)
        let bed = folder.bed
        let winners = await withTaskGroup(of: UInt64?.self) { group in
            for seed in 1...20 as ClosedRange<UInt64> {
                group.addTask {
                    (try? await bed.get("/bytes/100000?seed=\(seed)", into: destination)) == nil ? nil : seed
                }
            }
            return await group.reduce(into: []) { $0 += $1.map { [$0] } ?? [] }
        }
        #expect(winners.count == 1)
        let winner = try #require(winners.first)
        #expect(folder.content("page") == ReferenceBytes.bytes(100_000, seed: winner))
        try await folder.expect(["page"])
    }

    @Test("an empty body makes no file unless asked", .timeLimit(.minutes(3)), arguments: Place.allCases)
    func emptyBody(place: Place) async throws {
        let folder = try folder(place)
        for target in ["/bytes/0", "/status/204", "/bytes/0?chunked=1"] {
            let response = try await folder.bed.get(target, into: .file(folder.file("none")))
            #expect(response.file == nil)
        }
        try await folder.expect([])
        var options = Destination.FileOptions()
        options.createsEmptyFile = true
        let response = try await folder.bed.get("/bytes/0", into: .file(folder.file("empty"), options: options))
        #expect(response.file == folder.file("empty"))
        #expect(folder.content("empty") == [])
    }

    @Test(
        "the page of a failure stays in memory unless asked", .timeLimit(.minutes(3)), arguments: Place.allCases,
        [404, 500])
    func errorBody(place: Place, status: Int) async throws {
        let folder = try folder(place)
        try folder.put("page", "earlier")
        let response = try await folder.bed.get("/status/\(status)?body=sorry", into: .file(folder.file("page")))
        #expect(response.status == status)
        #expect(response.bodyText == "sorry")
        #expect(response.file == nil)
        #expect(folder.content("page") == Array("earlier".utf8))
        var options = Destination.FileOptions()
        options.savesErrorBodies = true
        let saved = try await folder.bed.get(
            "/status/\(status)?body=sorry", into: .file(folder.file("page"), options: options))
        #expect(saved.file == folder.file("page"))
        #expect(folder.content("page") == Array("sorry".utf8))
        try await folder.expect(["page"])
    }

    @Test(
        "a failure leaves nothing behind, and an earlier file as it was (ULS-NDL-05)", .timeLimit(.minutes(3)),
        arguments: Place.allCases,
        [
            "/truncate?declared=300000&sent=200000", "/truncate?declared=300000&sent=200000&chunked=1",
            "/reset?after=100000", "/close?after=100000", "/bad-chunk?kind=crlf", "/gzip-truncated",
            "/stall?after=100000", "/redirect-to?url=ftp://x/",
        ])
    func failureCleansUp(place: Place, target: String) async throws {
        let folder = try folder(place)
        try folder.put("page", "earlier")
        for name in ["page", "fresh"] {
            await failure {
                try await folder.bed.get(target, into: .file(folder.file(name))) {
                    $0.timeLimits.inactivity = .milliseconds(300)
                }
            }
        }
        #expect(folder.content("page") == Array("earlier".utf8))
        try await folder.expect(["page"])
    }

    @Test("cancelling leaves nothing behind", .timeLimit(.minutes(3)), arguments: Place.allCases, Engine.allCases)
    func cancelCleansUp(place: Place, engine: Engine) async throws {
        let folder = try folder(place)
        let fetch = folder.bed.coordinator(engine).start(
            Request(folder.bed.url("/stall?after=300000")), into: .file(folder.file("page")))
        for await event in fetch.events {
            // Well into the body: the file is being written.
            if case .progress(let progress) = event, progress.received >= 200_000 { break }
        }
        fetch.cancel()
        await failure(.cancelled) { try await fetch.response }
        try await folder.expect([])
    }

    @Test("a body over its limit leaves nothing behind", .timeLimit(.minutes(3)), arguments: Place.allCases)
    func tooLarge(place: Place) async throws {
        let folder = try folder(place)
        for target in ["/endless", "/endless?chunked=1", "/bytes/2000000"] {
            await failure(.tooLarge) {
                try await folder.bed.get(target, into: .file(folder.file("page"))) {
                    $0.sizeLimits.bodyBytes = 1_000_000
                }
            }
        }
        try await folder.expect([])
    }

    @Test("directories on the way are made beneath an output directory and nowhere else", .timeLimit(.minutes(3)))
    func missingDirectory() async throws {
        let beneath = try folder(.outputDirectory)
        let response = try await beneath.bed.get("/bytes/10", into: .file(beneath.file("a/b/page")))
        #expect(response.file == beneath.file("a/b/page"))
        #expect(beneath.content("a/b/page") == ReferenceBytes.bytes(10))
        let elsewhere = try folder(.elsewhere)
        let error = await failure(.file) {
            try await elsewhere.bed.get("/bytes/10?missing-directory=1", into: .file(elsewhere.file("a/page")))
        }
        #expect(error?.cause == .system(ENOENT))
        #expect(try beneath.bed.origin.log(prefix: "/bytes/10?missing-directory").isEmpty, "nothing was sent")
    }

    @Test(
        "a destination that is a directory, or beneath a file, is an error (ASI-RUN-07)", .timeLimit(.minutes(3)),
        arguments: Place.allCases)
    func badPlaces(place: Place) async throws {
        let folder = try folder(place)
        try FileManager.default.createDirectory(atPath: folder.file("directory"), withIntermediateDirectories: false)
        try folder.put("file", "x")
        for name in ["directory", "directory/", "file/page", "."] {
            let error = await failure(.file) { try await folder.bed.get("/bytes/10", into: .file(folder.file(name))) }
            #expect(error?.legacyCode == 8)
            #expect(error?.detail.isEmpty == false)
        }
        try await folder.expect(["directory", "file"])
    }

    @Test("a path out of the output directory goes nowhere", .timeLimit(.minutes(3)))
    func outOfDirectory() async throws {
        let folder = try folder(.outputDirectory)
        await failure(.file) { try await folder.bed.get("/bytes/10", into: .file(folder.file("../../../escaped"))) }
        #expect(try !folder.bed.directory.names().contains { $0.hasSuffix("escaped") })
    }

    @Test(
        "places that cannot be written are errors", .timeLimit(.minutes(3)),
        arguments: ["/proc/trawl", "/proc/self/trawl", "", "/"])
    func unwritable(path: String) async throws {
        let bed = try Bed.current
        await failure(.file) { try await bed.get("/bytes/10", into: .file(path)) }
    }

    @Test(
        "a directory that must not be written is an error", .enabled(if: geteuid() != 0, "root may do it anyway"),
        .timeLimit(.minutes(3)), arguments: Place.allCases)
    func readOnlyDirectory(place: Place) async throws {
        let folder = try folder(place)
        chmod(folder.path, 0o555)
        defer { chmod(folder.path, 0o755) }
        let error = await failure(.file) { try await folder.bed.get("/bytes/10", into: .file(folder.file("page"))) }
        #expect(error?.cause == .system(EACCES))
    }

    @Test(
        "a request that must not be repeated is not sent when its file cannot be made", .timeLimit(.minutes(3)),
        arguments: Place.allCases)
    func unwritableIsNotSent(place: Place) async throws {
        let folder = try folder(place)
        try FileManager.default.createDirectory(atPath: folder.file("directory"), withIntermediateDirectories: false)
        try folder.put("file", "x")
        let target = "/echo?unsent=\(place)"
        let request = Request(.post, folder.bed.url(target), body: .text("once"))
        for (name, cause) in [("directory", EISDIR), ("file/page", ENOTDIR)] {
            let error = await failure(.file) {
                try await folder.bed.coordinator.send(request, into: .file(folder.file(name)))
            }
            #expect(error?.cause == .system(cause))
        }
        var options = Destination.FileOptions()
        options.replaces = false
        let error = await failure(.file) {
            try await folder.bed.coordinator.send(request, into: .file(folder.file("file"), options: options))
        }
        #expect(error?.cause == .system(EEXIST))
        #expect(try folder.bed.origin.log(prefix: target).isEmpty)
        let response = try await folder.bed.coordinator.send(request, into: .file(folder.file("file")))
        #expect(response.file == folder.file("file") && folder.content("file") == Array("once".utf8))
        #expect(try folder.bed.origin.log(prefix: target).count == 1)
        try await folder.expect(["directory", "file"])
    }

    @Test("a name may have 255 bytes and no more", .timeLimit(.minutes(3)), arguments: Place.allCases)
    func longNames(place: Place) async throws {
        let folder = try folder(place)
        for name in [String(repeating: "n", count: 255), String(repeating: "é", count: 127)] {
            let response = try await folder.bed.get("/bytes/10", into: .file(folder.file(name)))
            #expect(response.file == folder.file(name))
            #expect(folder.content(name) == ReferenceBytes.bytes(10))
        }
        let error = await failure(.file) {
            try await folder.bed.get("/bytes/10", into: .file(folder.file(String(repeating: "n", count: 256))))
        }
        #expect(error?.detail.isEmpty == false)
    }

    @Test(
        "a full device is an error, and a small body is noticed too, in whatever coding it comes",
        .timeLimit(.minutes(3)),
        arguments: ["/bytes/10", "/bytes/1000000", "/gzip", "/gzip?chunked=1", "/gzip-bomb?size=3000000"])
    func fullDevice(target: String) async throws {
        let bed = try Bed.current
        let error = await failure(.file) {
            try await bed.get(target, into: .file("/dev/full")) { $0.sizeLimits.codingRatio = 0 }
        }
        #expect(error?.cause == .system(ENOSPC) && error?.legacyCode == 8)
    }

    @Test(
        "a full file system is an error and leaves nothing behind",
        .enabled(if: SmallFileSystem.isPossible, OwnMount.missing), .timeLimit(.minutes(3)),
        arguments: Place.allCases)
    func fullFileSystem(place: Place) async throws {
        let folder = try folder(place)
        let small = try SmallFileSystem(at: folder.path)
        defer { small.unmount() }
        for target in ["/bytes/1000000", "/gzip-bomb?size=1000000"] {
            let error = await failure(.file) {
                try await folder.bed.get(target, into: .file(folder.file("page"))) { $0.sizeLimits.codingRatio = 0 }
            }
            #expect(error?.cause == .system(ENOSPC))
            try await folder.expect([])
        }
        let fits = try await folder.bed.get("/bytes/1000", into: .file(folder.file("page")))
        #expect(fits.file == folder.file("page"))
    }

    @Test("a symbolic link as destination stays, and what it leads to is replaced")
    func symbolicLink() async throws {
        let bed = try Bed.current
        let directory = try TemporaryDirectory()
        try Data("old".utf8).write(to: URL(fileURLWithPath: directory.file("target")))
        try FileManager.default.createSymbolicLink(
            atPath: directory.file("link"), withDestinationPath: directory.file("target"))
        let response = try await bed.coordinator.send(
            Request(bed.origin.url("/bytes/100")), into: .file(directory.file("link")))
        #expect(response.file == directory.file("link"))
        #expect(
            try FileManager.default.destinationOfSymbolicLink(atPath: directory.file("link"))
                == directory.file("target"))
        #expect(try Data(contentsOf: URL(fileURLWithPath: directory.file("target"))).count == 100)
    }

    @Test("/dev/null takes everything and stays what it is", .timeLimit(.minutes(3)))
    func devNull() async throws {
        let bed = try Bed.current
        let response = try await bed.get("/bytes/1000000", into: .file("/dev/null"))
        #expect(response.receivedLength == 1_000_000)
        var info = stat()
        #expect(stat("/dev/null", &info) == 0)
        #expect(info.st_mode & S_IFMT == S_IFCHR)
    }

    @Test("a pipe is written to", .timeLimit(.minutes(3)))
    func pipe() async throws {
        let folder = try folder(.elsewhere)
        #expect(mkfifo(folder.file("pipe"), 0o600) == 0)
        let reader = open(folder.file("pipe"), O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        #expect(reader >= 0)
        defer { close(reader) }
        let bed = folder.bed
        let path = folder.file("pipe")
        let fetch = bed.coordinator.start(Request(bed.url("/bytes/500000")), into: .file(path))
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        let complete = await eventually {
            while true {
                let count = read(reader, &buffer, buffer.count)
                guard count > 0 else { return bytes.count == 500_000 }
                bytes += buffer[..<count]
            }
        }
        #expect(complete)
        #expect(bytes == ReferenceBytes.bytes(500_000))
        #expect(try await fetch.response.receivedLength == 500_000)
        #expect(try folder.names() == ["pipe"])
    }

    @Test("beneath an output directory a pipe makes the fetch fail, and stays what it is", .timeLimit(.minutes(3)))
    func pipeBeneath() async throws {
        let folder = try folder(.outputDirectory)
        #expect(mkfifo(folder.file("pipe"), 0o600) == 0)
        let bed = folder.bed
        await failure(.file) { try await bed.get("/bytes/1000", into: .file(folder.file("pipe"))) }
        var info = stat()
        #expect(stat(folder.file("pipe"), &info) == 0 && info.st_mode & S_IFMT == S_IFIFO)
        #expect(try folder.names() == ["pipe"])
    }

    @Test("a pipe whose reader leaves fails the fetch and nothing else", .timeLimit(.minutes(3)))
    func brokenPipe() async throws {
        let folder = try folder(.elsewhere)
        #expect(mkfifo(folder.file("pipe"), 0o600) == 0)
        let reader = open(folder.file("pipe"), O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        #expect(reader >= 0)
        let fetch = folder.bed.coordinator.start(
            Request(folder.bed.url("/bytes/50000000")), into: .file(folder.file("pipe")))
        var byte: UInt8 = 0
        #expect(await eventually { read(reader, &byte, 1) == 1 })
        close(reader)
        let error = await failure(.file) { try await fetch.response }
        #expect(error?.cause == .system(EPIPE))
        #expect(try await folder.bed.get("/bytes/10").status == 200)
    }
}

/// A file system of 64 KiB.
struct SmallFileSystem {
    private let path: String

    /// Whether this process may mount: root outside of a container.
    static let isPossible: Bool = {
        guard geteuid() == 0, let directory = try? TemporaryDirectory() else { return false }
        guard let small = try? SmallFileSystem(at: directory.path) else { return false }
        small.unmount()
        return true
    }()

    init(at path: String) throws {
        guard mount("none", path, "tmpfs", 0, "size=64k") == 0 else {
            throw ChildProcess.Failure(description: "mount: errno \(errno)")
        }
        self.path = path
    }

    func unmount() { umount2(path, Int32(MNT_DETACH)) }
}

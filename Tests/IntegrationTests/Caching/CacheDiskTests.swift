import Foundation
import Glibc
import Testing
import Trawl

/// In processes of their own: a fault in mapped memory would end all tests.
@Suite(
    "A cache on a bad disk", .serialized, .timeLimit(.minutes(5)),
    .enabled(if: SmallDisk.isAllowed, OwnMount.missing))
struct CacheDiskTests {
    @Test("a full disk leaves what is new uncached, and the rest as it was")
    func full() async {
        await #expect(processExitsWith: .success) {
            try await SmallDisk.with(megabytes: 40) { try await Self.fills($0) }
        }
        SmallDisk.removeAll()
    }

    @Test("a disk that is full from the start leaves all uncached")
    func fullFromTheStart() async {
        await #expect(processExitsWith: .success) {
            try await SmallDisk.with(megabytes: 4) { disk in
                try SmallDisk.fill(disk + "/filler")
                try await Self.worksWithout(disk)
            }
        }
        SmallDisk.removeAll()
    }

    @Test("a disk that cannot be written to leaves all uncached")
    func readOnly() async {
        await #expect(processExitsWith: .success) {
            try await SmallDisk.with(megabytes: 4) { disk in
                try SmallDisk.makeReadOnly(disk)
                try await Self.worksWithout(disk)
            }
        }
        SmallDisk.removeAll()
    }

    @Test("on a full disk pruning makes room, and removing removes")
    func prune() async {
        await #expect(processExitsWith: .success) {
            try await SmallDisk.with(megabytes: 24) { disk in try Self.prunes(disk) }
        }
        SmallDisk.removeAll()
    }

    private static func prunes(_ disk: String) throws {
        let origin = try ScriptedOrigin { request in
            let length = request.target.hasPrefix("/long") ? 1_000_000 : 9000
            let body = request.target + String(repeating: ".", count: length)
            return ScriptedOrigin.Answer(200, body, [("Cache-Control", "max-age=600")])
        }
        defer { origin.stop() }
        let targets = (0..<600).map { "/short/\($0)" } + (0..<3).map { "/long/\($0)" }
        let list = targets.map { origin.url($0) + "\n" }.joined()
        let store = ["--store", disk + "/store"]
        let batch = try CommandRun(["batch", "-", "--no-files"] + store, input: list)
        expectInChild(batch.status == 0, batch.errors)
        // Room for a few records at a time, not for all of them.
        try Data(count: 200_000).write(to: URL(filePath: disk + "/spare"))
        try SmallDisk.fill(disk + "/filler")
        try FileManager.default.removeItem(atPath: disk + "/spare")
        let removing = try CommandRun(["cache", "rm", "--prefix", origin.url("/short/1")] + store)
        expectInChild(removing.status == 0 && removing.text.hasPrefix("111 removed"), removing.text + removing.errors)
        try SmallDisk.fill(disk + "/more")
        let prune = try CommandRun(["cache", "prune", "--size", "2M"] + store)
        expectInChild(prune.status == 0, prune.errors)
        let again = try CommandRun(["cache", "prune", "--size", "2M"] + store)
        expectInChild(again.status == 0 && again.text.hasPrefix("0 removed"), again.text + again.errors)
        let verify = try CommandRun(["cache", "verify"] + store)
        expectInChild(verify.status == 0, verify.text + verify.errors)
    }

    @Test("on a disk without one free page removing removes, and clearing gives all back", arguments: ["rm", "clear"])
    func removing(command: String) async {
        await #expect(processExitsWith: .success) { [command] in
            try await SmallDisk.with(megabytes: 24) { disk in try Self.removes(disk, by: command) }
        }
        SmallDisk.removeAll()
    }

    private static func removes(_ disk: String, by command: String) throws {
        let origin = try ScriptedOrigin { request in
            let body = request.target + String(repeating: ".", count: 9000)
            return ScriptedOrigin.Answer(200, body, [("Cache-Control", "max-age=600")])
        }
        defer { origin.stop() }
        let store = ["--store", disk + "/store"]
        func fetch(_ targets: [String]) throws {
            let list = targets.map { origin.url($0) + "\n" }.joined()
            let batch = try CommandRun(["batch", "-", "--no-files"] + store, input: list)
            expectInChild(batch.status == 0, batch.errors)
        }
        try fetch((0..<300).map { "/short/\($0)" })
        // All that is left goes to responses, which take the pages that are free within the file as well.
        try SmallDisk.fill(disk + "/filler")
        for number in 0..<8 { try fetch((0..<30).map { "/more/\(number)/\($0)" }) }
        let arguments = command == "rm" ? ["rm", "--prefix", origin.url("/short/")] : ["clear"]
        let removing = try CommandRun(["cache"] + arguments + store)
        expectInChild(removing.status == 0, removing.text + removing.errors)
        if command == "rm" {
            expectInChild(removing.text.hasPrefix("300 removed"), removing.text)
        } else {
            try fetch((0..<100).map { "/again/\($0)" })
        }
        let list = try CommandRun(["cache", "ls"] + store)
        expectInChild(!list.text.contains("/short/"), list.text)
        expectInChild(command == "rm" || list.text.contains("/again/99"), list.text)
        let verify = try CommandRun(["cache", "verify"] + store)
        expectInChild(verify.status == 0, verify.text + verify.errors)
    }

    private static func fills(_ disk: String) async throws {
        let scene = try BytesScene(store: disk + "/store")
        defer { scene.origin.stop() }
        for engine in Engine.allCases {
            try await scene.withCoordinator(engine) { coordinator in
                for (target, wanted) in scene.targets { try await scene.check(coordinator, target, wanted, .memory) }
                try SmallDisk.fill(disk + "/filler")
                for place in CacheFaultTests.Place.allCases {
                    for size in [100, 16_000, 300_000, 3_000_000] {
                        let url = scene.origin.url(
                            "/bytes/\(size)?full=\(place)\(engine)&field=Cache-Control:%20max-age=3600")
                        for _ in 0..<2 { try await scene.check(coordinator, url, ReferenceBytes.bytes(size), place) }
                    }
                    for (target, wanted) in scene.targets {
                        let response = try await scene.check(coordinator, target, wanted, place)
                        expectInChild(response.source == .cache, "\(response.source) into \(place), \(engine)")
                    }
                }
            }
            unlink(disk + "/filler")
            try await scene.withCoordinator(engine) { coordinator in
                let url = scene.origin.url("/bytes/300000?after=\(engine)&field=Cache-Control:%20max-age=3600")
                for source in [Response.Source.network, .cache] {
                    let response = try await scene.check(coordinator, url, ReferenceBytes.bytes(300_000), .memory)
                    expectInChild(response.source == source, "\(response.source), not \(source), \(engine)")
                }
            }
        }
    }

    private static func worksWithout(_ disk: String) async throws {
        let scene = try BytesScene(store: disk + "/store")
        defer { scene.origin.stop() }
        for engine in Engine.allCases {
            try await scene.withCoordinator(engine) { coordinator in
                for place in CacheFaultTests.Place.allCases {
                    for (target, wanted) in scene.targets { try await scene.check(coordinator, target, wanted, place) }
                }
            }
        }
    }
}

/// A small file system, made in a process whose parent looks after it when the process does not.
private enum SmallDisk {
    /// Whether one can be made, found out by making one.
    static let isAllowed: Bool = {
        guard let directory = try? TemporaryDirectory(),
            mount("trawl-test-\(getpid())", directory.path, "tmpfs", 0, "size=1m") == 0
        else { return false }
        return withExtendedLifetime(directory) { umount2(directory.path, Int32(MNT_DETACH)) == 0 }
    }()

    /// Runs `body` with the directory of one.
    static func with(megabytes: Int, _ body: (String) async throws -> Void) async throws {
        let directory = try TemporaryDirectory()
        try #require(mount("trawl-test-\(getppid())", directory.path, "tmpfs", 0, "size=\(megabytes)m") == 0)
        defer { umount2(directory.path, Int32(MNT_DETACH)) }
        try await body(directory.path)
    }

    static func makeReadOnly(_ path: String) throws {
        try #require(mount("trawl-test-\(getppid())", path, "tmpfs", UInt(MS_REMOUNT) | UInt(MS_RDONLY), nil) == 0)
    }

    /// Removes what is left of those of child processes.
    static func removeAll() {
        guard let mounts = FileManager.default.contents(atPath: "/proc/self/mounts") else { return }
        for line in String(decoding: mounts, as: UTF8.self).split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count > 1, words[0] == "trawl-test-\(getpid())" else { continue }
            umount2(String(words[1]), Int32(MNT_DETACH))
            rmdir(String(words[1]))
        }
    }

    /// Writes until there is no room.
    static func fill(_ path: String) throws {
        let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        try #require(file >= 0)
        defer { close(file) }
        var size = 1 << 20
        let zeros = [UInt8](repeating: 0, count: size)
        while size > 0 { if write(file, zeros, size) < size { size /= 2 } }
    }
}

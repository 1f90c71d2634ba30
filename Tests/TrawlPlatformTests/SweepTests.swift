import Glibc
import Testing

@testable import TrawlPlatform

@Suite("Unfinished files with names, and what is left of them")
struct SweepTests {
    private let leftover = ".page.html.abcdefghijk27.part"

    @Test("a root says whether unfinished files need names")
    func probe() throws {
        let directory = try TemporaryDirectory()
        #expect(try OutputRoot(path: directory.path).hasUnnamedFiles)
        #expect(try !OutputRoot(path: directory.path, namesParts: true).hasUnnamedFiles)
        #expect(try directory.names() == [])
    }

    @Test("a named part is beside its destination and locked until it is published or discarded")
    func named() throws {
        let directory = try TemporaryDirectory()
        let root = try OutputRoot(path: directory.path, namesParts: true)
        for publishes in [true, false] {
            let part = try root.createPart(for: "d/x")
            try withBytes("of x") { try part.write($0) }
            let names = try directory.names(in: "d")
            #expect(names.count == 1)
            #expect(names.allSatisfy { $0.hasPrefix(".x.") && $0.hasSuffix(".part") && $0.utf8.count == 21 })
            for name in names { directory.age("d/" + name) }
            #expect(root.sweepParts() == 0)
            if publishes {
                try part.publish(replacing: false, sync: true)
                #expect(directory.content("d/x") == "of x")
                #expect(try directory.names(in: "d") == ["x"])
                unlink(directory.file("d/x"))
            } else {
                part.discard()
                #expect(try directory.names(in: "d") == [])
            }
        }
    }

    @Test("what was written to within the hour stays: locks of other machines are not always seen")
    func fresh() throws {
        let directory = try TemporaryDirectory()
        let root = try OutputRoot(path: directory.path, namesParts: true)
        let part = try root.createPart(for: "x")
        try withBytes("half") { try part.write($0) }
        // What another machine sees of it where locks stay on theirs.
        #expect(flock(part.rawValue, LOCK_UN) == 0)
        #expect(root.sweepParts() == 0)
        let names = try directory.names()
        #expect(names.count == 1)
        for name in names { directory.age(name) }
        #expect(root.sweepParts() == 1)
        part.discard()
    }

    @Test("a sweep stays on its file system")
    func otherSystem() throws {
        let directory = try TemporaryDirectory()
        directory.put(leftover, "x")
        let device = try OutputRoot(path: directory.path).identity().device
        for (system, removed) in [(device &+ 1, 0), (device, 1)] {
            let opened = open(directory.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            #expect(OutputRoot.sweep(opened, on: system, unwrittenSince: .max, depth: 0) == removed)
        }
        #expect(try directory.names() == [])
    }

    @Test("a sweep removes what nobody holds, however deep, and nothing else")
    func sweep() throws {
        let directory = try TemporaryDirectory()
        let outside = try TemporaryDirectory()
        outside.put(leftover, "")
        outside.age(leftover)
        mkdir(directory.file("a"), 0o777)
        mkdir(directory.file("a/b"), 0o777)
        symlink(outside.path, directory.file("link"))
        let others = [
            "page.html", ".part", "..abcdefghijk27.part", ".page.abcdefghijk2.part", ".page.abcdefghijk28.part",
            "page.abcdefghijk27.part", ".page.abcdefghijk27.parts", ".page_abcdefghijk27.part",
        ]
        for folder in ["", "a/", "a/b/"] {
            for name in others + [leftover] {
                directory.put(folder + name, "x")
                directory.age(folder + name)
            }
        }
        symlink("page.html", directory.file(".link.abcdefghijk27.part"))
        mkdir(directory.file(".directory.abcdefghijk27.part"), 0o777)
        let root = try OutputRoot(path: directory.path)
        let part = try OutputRoot(path: directory.path, namesParts: true).createPart(for: "a/held")
        for name in try directory.names(in: "a") where name.hasPrefix(".held.") { directory.age("a/" + name) }
        #expect(root.sweepParts() == 3)
        #expect(root.sweepParts() == 0)
        #expect(try directory.names(in: "a/b") == others.sorted())
        #expect(try directory.names(in: "a").count == others.count + 2)
        #expect(try outside.names() == [leftover])
        try part.publish(replacing: false, sync: false)
        #expect(directory.content("a/held") == "")
    }

    @Test("a killed process leaves a part that is swept")
    func killed() async throws {
        let directory = try TemporaryDirectory()
        let path: String = directory.path
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            let part = try OutputRoot(path: path, namesParts: true).createPart(for: "x")
            kill(getpid(), SIGKILL)
            part.discard()
        }
        let root = try OutputRoot(path: directory.path, namesParts: true)
        let names = try directory.names()
        #expect(names.count == 1)
        for name in names { directory.age(name) }
        #expect(root.sweepParts() == 1)
        #expect(try directory.names() == [])
    }

    @Test("a sweep that runs all the while takes no file from those who write")
    func race() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path
        let device = try OutputRoot(path: path).identity().device
        let sweeper = try NamedThread.start(name: "sweeper") {
            while access(path + "/stop", F_OK) != 0 {
                // Of any age: the locks alone are to hold.
                let opened = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                _ = OutputRoot.sweep(opened, on: device, unwrittenSince: .max, depth: 0)
            }
        }
        let root = try OutputRoot(path: path, namesParts: true)
        for index in 0..<300 {
            let part = try root.createPart(for: "d/\(index)")
            try withBytes("\(index)") { try part.write($0) }
            try part.publish(numberedFrom: 0, adoptsIdentical: false, sync: false)
        }
        directory.put("stop", "")
        sweeper.join()
        #expect(try directory.names(in: "d").count == 300)
    }
}

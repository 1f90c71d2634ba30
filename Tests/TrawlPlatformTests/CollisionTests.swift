import Glibc
import Testing

@testable import TrawlPlatform

@Suite("Names that are taken")
struct CollisionTests {
    /// Publishes a file and says where it is.
    private func publish(
        _ root: OutputRoot, _ path: String, _ content: String, from first: UInt32 = 0, adopts: Bool = false,
        sync: Bool = false
    ) throws -> String {
        let part = try root.createPart(for: path, detours: true)
        try withBytes(content) { try part.write($0) }
        try part.publish(numberedFrom: first, adoptsIdentical: adopts, sync: sync)
        return part.path
    }

    private func roots(_ directory: TemporaryDirectory) throws -> [OutputRoot] {
        [try OutputRoot(path: directory.path), try OutputRoot(path: directory.path, namesParts: true)]
    }

    @Test("the first free number is taken, and nothing is overwritten")
    func numbers() throws {
        let directory = try TemporaryDirectory()
        var paths: [String] = []
        for round in 0..<3 {
            for root in try roots(directory) { paths.append(try publish(root, "h/x", "\(round)")) }
        }
        #expect(paths == ["h/x", "h/x.1", "h/x.2", "h/x.3", "h/x.4", "h/x.5"])
        #expect(directory.content("h/x") == "0")
        #expect(directory.content("h/x.5") == "2")
        #expect(try directory.names(in: "h").count == 6)
    }

    @Test("where a rename always replaces, a name is claimed first, and nothing is overwritten")
    func claims() throws {
        let directory = try TemporaryDirectory()
        let held = try OutputRoot(path: directory.path)
        let root = held.root.descriptor.rawValue
        for name in ["one", "two", "three"] { directory.put(name, name) }
        #expect(PartFile.moveByClaim("one", to: "a", in: root) == 0)
        #expect(PartFile.moveByClaim("two", to: "a", in: root) == -EEXIST)
        #expect(PartFile.moveByClaim("two", to: "a.1", in: root) == 0)
        #expect(directory.content("a") == "one" && directory.content("a.1") == "two")
        symlink("nowhere", directory.file("link"))
        mkdir(directory.file("d"), 0o777)
        for name in ["link", "d"] { #expect(PartFile.moveByClaim("three", to: name, in: root) == -EEXIST) }
        // What cannot be renamed leaves no claim.
        #expect(PartFile.moveByClaim("none", to: "b", in: root) == -ENOENT)
        #expect(try directory.names() == ["a", "a.1", "d", "link", "three"])
        withExtendedLifetime(held) {}
    }

    @Test("the search starts where it is told")
    func start() throws {
        let directory = try TemporaryDirectory()
        for root in try roots(directory) {
            let first = try publish(root, "x", "", from: 7)
            #expect(try publish(root, "x", "", from: 7) != first)
        }
        #expect(try directory.names() == ["x.10", "x.7", "x.8", "x.9"])
        let root = try OutputRoot(path: directory.path)
        #expect(try publish(root, "x", "", from: .max) == "x.4294967295")
        #expect(try publish(root, "x", "", from: .max) == "x.4294967296")
    }

    @Test("a directory, a link or a pipe of that name is passed by", arguments: [false, true])
    func otherKinds(adopts: Bool) throws {
        let directory = try TemporaryDirectory()
        directory.put("target", "same")
        mkdir(directory.file("x"), 0o777)
        symlink("target", directory.file("x.1"))
        symlink("nowhere", directory.file("x.2"))
        mkfifo(directory.file("x.3"), 0o600)
        for (index, root) in try roots(directory).enumerated() {
            #expect(try publish(root, "x", "same \(index)", adopts: adopts) == "x.\(4 + index)")
        }
        #expect(directory.content("target") == "same")
    }

    @Test("a file of the same bytes is taken for one's own when that is asked", arguments: [false, true])
    func identical(sync: Bool) throws {
        let directory = try TemporaryDirectory()
        let long = String(repeating: "0123456789", count: 20_000)
        for root in try roots(directory) {
            for content in ["", "a", long] {
                let name = "x\(content.count)"
                let first = try publish(root, name, content, adopts: true, sync: sync)
                #expect(try publish(root, name, content, adopts: true, sync: sync) == first)
                #expect(try publish(root, name, content, from: 1, adopts: true) == name + ".1")
                #expect(try publish(root, name, content, from: 1, adopts: true) == name + ".1")
            }
            #expect(try publish(root, "x200000", String(long.dropLast()) + "x", adopts: true).hasPrefix("x200000."))
        }
        for name in try directory.names() { #expect(!name.hasSuffix(".part")) }
        let root = try OutputRoot(path: directory.path)
        #expect(try publish(root, "x1", "a") == "x1.2")
        #expect(try publish(root, "x1", "b", adopts: true) == "x1.3")
        #expect(try publish(root, "x1", "b", adopts: true) == "x1.3")
    }

    @Test("many files of one name get dense numbers in few steps, and the last of them is found again")
    func many() throws {
        let directory = try TemporaryDirectory()
        let root = try OutputRoot(path: directory.path)
        for index in 0..<500 {
            #expect(try publish(root, "x", "\(index)") == (index == 0 ? "x" : "x.\(index)"))
        }
        #expect(try publish(root, "x", "499", adopts: true) == "x.499")
        #expect(try publish(root, "x", "490", adopts: true) == "x.490")
        #expect(try publish(root, "x", "3", adopts: true) == "x.3")
        #expect(try publish(root, "x", "new", adopts: true) == "x.500")
    }

    @Test("a gap in the numbers is enough, wherever the search lands")
    func gaps() throws {
        let directory = try TemporaryDirectory()
        let root = try OutputRoot(path: directory.path)
        directory.put("x", "")
        for index in 1..<100 where index != 40 { directory.put("x.\(index)", "") }
        var made: Set<String> = []
        for _ in 0..<3 { made.insert(try publish(root, "x", "new")) }
        #expect(made.count == 3)
        #expect(made.isSubset(of: ["x.40", "x.100", "x.101", "x.102"]))
    }

    @Test("a name that is reserved is passed by, whether something has it or not")
    func reserved() throws {
        for namesParts in [false, true] {
            let directory = try TemporaryDirectory()
            let root = try OutputRoot(path: directory.path, namesParts: namesParts)
            func publish(_ path: String, unless isReserved: @escaping (String) -> Bool) throws -> String {
                let part = try root.createPart(for: path)
                try withBytes("same") { try part.write($0) }
                try part.publish(numberedFrom: 0, adoptsIdentical: true, sync: false, unless: isReserved)
                return part.path
            }
            mkdir(directory.file("h"), 0o777)
            directory.put("h/x", "same")
            directory.put("h/x.1", "other")
            let reserved: Set<String> = ["h/x", "h/x.2"]
            for _ in 0..<2 {
                let path = try publish("h/x") { reserved.contains($0) }
                #expect(path == "h/x.3")
            }
            #expect(try directory.names(in: "h") == ["x", "x.1", "x.3"])
            // Many of them in few steps.
            let many = Set((0..<500).map { $0 == 0 ? "y" : "y.\($0)" })
            var questions = 0
            let found = try publish("y") { path in
                questions += 1
                return many.contains(path)
            }
            #expect(found == "y.500" && questions < 100, "\(questions)")
        }
    }

    @Test("a file of the same bytes that is doubtful is passed by, and a free name is taken all the same")
    func doubtful() throws {
        let directory = try TemporaryDirectory()
        directory.put("x", "same")
        directory.put("x.1", "same")
        for (index, root) in try roots(directory).enumerated() {
            func publish(_ path: String, notAdopting isDoubtful: @escaping (String) -> Bool) throws -> String {
                let part = try root.createPart(for: path)
                try withBytes("same") { try part.write($0) }
                try part.publish(numberedFrom: 0, adoptsIdentical: true, sync: false, notAdopting: isDoubtful)
                return part.path
            }
            let second = try publish("x") { $0 == "x" }
            #expect(second == "x.1")
            let third = try publish("x") { _ in true }
            #expect(third == "x.\(2 + index)")
            let free = try publish("y\(index)") { _ in true }
            #expect(free == "y\(index)")
        }
        #expect(try directory.names() == ["x", "x.1", "x.2", "x.3", "y0", "y1"])
    }

    @Test("a file gets its name with one number, or none")
    func oneNumber() throws {
        let directory = try TemporaryDirectory()
        for (index, root) in try roots(directory).enumerated() {
            let name = "h/x\(index)"
            func part(_ content: String) throws -> PartFile {
                let part = try root.createPart(for: name)
                try withBytes(content) { try part.write($0) }
                return part
            }
            let first = try part("1")
            let isFirst = try first.publish(number: 0, sync: false)
            #expect(isFirst && first.path == name)
            let second = try part("2")
            let isTaken = try !second.publish(number: 0, sync: false)
            #expect(isTaken && second.path == name && directory.content(name) == "1")
            let isSecond = try second.publish(number: 7, sync: true)
            #expect(isSecond && second.path == name + ".7" && directory.content(name + ".7") == "2")
            // No name is cut for a number.
            let long = String(repeating: "n", count: 254 - index)
            let third = try root.createPart(for: long)
            let isCut = try third.publish(number: 12, sync: false)
            #expect(!isCut && third.path == long)
            third.discard()
        }
        #expect(try directory.names(in: "h") == ["x0", "x0.7", "x1", "x1.7"])
        #expect(try directory.names() == ["h"])
    }

    @Test("a name that would get too long is cut between characters")
    func longNames() throws {
        let directory = try TemporaryDirectory()
        for (name, kept) in [
            (String(repeating: "n", count: 255), 253), (String(repeating: "ä", count: 127), 252),
            (String(repeating: "\u{1F600}", count: 63), 252),
        ] {
            let root = try OutputRoot(path: directory.path)
            #expect(try publish(root, name, "") == name)
            let other = try publish(root, name, "")
            #expect(other.hasSuffix(".1"))
            #expect(other.utf8.count == kept + 2)
            #expect(name.hasPrefix(other.dropLast(2)))
        }
    }

    @Test("what stands in the place of a directory is gone around")
    func detours() throws {
        let directory = try TemporaryDirectory()
        let outside = try TemporaryDirectory()
        for root in try roots(directory) {
            directory.put("a", "file")
            mkdir(directory.file("h"), 0o777)
            directory.put("h/a", "file")
            symlink(outside.path, directory.file("link"))
            mkfifo(directory.file("pipe"), 0o600)
            let suffix = root.hasUnnamedFiles ? "" : ".1"
            #expect(try publish(root, "a/b", "1") == "a%2Fb" + suffix)
            #expect(try publish(root, "h/a/b/c", "2") == "h/a%2Fb%2Fc" + suffix)
            #expect(try publish(root, "link/x", "3") == "link%2Fx" + suffix)
            #expect(try publish(root, "pipe/x", "4") == "pipe%2Fx" + suffix)
        }
        #expect(directory.content("h/a%2Fb%2Fc") == "2")
        #expect(directory.content("h/a") == "file")
        #expect(try outside.names() == [])
        let root = try OutputRoot(path: directory.path)
        #expect(errorNumber { _ = try root.createPart(for: "a/b") } == ENOTDIR)
    }

    @Test("a detour's name that would get too long is cut and stays apart from others")
    func longDetours() throws {
        let directory = try TemporaryDirectory()
        directory.put("a", "file")
        let root = try OutputRoot(path: directory.path)
        let stem = "a/" + String(repeating: "n", count: 200) + "/" + String(repeating: "ö", count: 100)
        let paths = try ["1", "2"].map { try publish(root, stem + $0, $0) }
        #expect(paths[0] != paths[1])
        for path in paths {
            #expect(path.utf8.count <= 255)
            #expect(path.hasPrefix("a%2Fnnn"))
            #expect(path.dropLast(16).hasSuffix("~"))
        }
    }

    @Test("a detour is never longer than a path may be")
    func longestDetours() {
        for length in stride(from: 4000, through: 4092, by: 2) {
            let stem = String(repeating: "d/", count: length / 2)
            let path = stem + "f/" + String(repeating: "x", count: 4095 - length - 2)
            let detour = Array(path.utf8).withUnsafeBytes { OutputPath.detour($0, at: stem.utf8.count) }
            // Near the end there is no room for as much as a digest.
            #expect(detour == nil ? length >= 4078 : (detour?.count ?? 0) <= 4095, "\(length)")
        }
    }

    @Test("threads that want the same names at once all get one each, and lose nothing")
    func race() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path
        let threads = try (0..<4).map { thread in
            try NamedThread.start(name: "race") {
                for index in 0..<100 {
                    // One thinks that `n` is a file, the other that it is a directory.
                    let name = thread % 2 == 0 ? "d\(index)" : "d\(index)/x"
                    guard let root = try? OutputRoot(path: path, namesParts: thread > 1),
                        let part = try? root.createPart(for: name, detours: true)
                    else { continue }
                    try? Array("\(thread)".utf8).withUnsafeBytes { try part.write($0) }
                    try? part.publish(numberedFrom: 0, adoptsIdentical: false, sync: false)
                }
            }
        }
        for thread in threads { thread.join() }
        var files = 0
        for name in try directory.names() {
            var info = stat()
            stat(directory.file(name), &info)
            files += info.st_mode & S_IFMT == S_IFDIR ? try directory.names(in: name).count : 1
        }
        #expect(files == 400)
    }
}

import Foundation
import TestSupport
import Testing
import TrawlHTTP
import TrawlPlatform

@testable import TrawlCommand

@Suite("The file of lines that are set aside")
struct AsideFileTests {
    private func line(_ number: Int, _ bytes: [UInt8]) -> AsideLine {
        AsideLine(
            number: number, isAgain: number % 3 == 0, started: MonotonicInstant(nanoseconds: UInt64(number) * 7),
            bytes: bytes)
    }

    /// Size of the unnamed files of this process beneath a directory, and what is in them.
    private func unnamedFiles(in directory: String) throws -> [Data] {
        try OpenDescriptors.leading { $0.hasPrefix(directory) && $0.hasSuffix("(deleted)") }
            .compactMap { FileManager.default.contents(atPath: "/proc/self/fd/\($0.number)") }
    }

    @Test(
        "rows of lines of any length come back as they were, from memory and from the disk",
        arguments: 1...6 as ClosedRange<UInt64>)
    func model(seed: UInt64) throws {
        let scratch = try ScratchDirectory()
        var random = SeededGenerator(seed: seed)
        let file = try AsideFile(in: scratch.path, mostBytes: 8 << 20, pieceSize: 4096)
        var rows: [[(place: AsideFile.Place, line: AsideLine)]] = Array(repeating: [], count: 7)
        var (refused, taken) = (0, 0)
        for number in 0..<6000 {
            let row = Int.random(in: 0..<7, using: &random)
            // More comes than goes, then more goes than comes.
            if Int.random(in: 0..<10, using: &random) < (number % 2000 < 1200 ? 8 : 2) {
                let length = Bool.random(using: &random) ? 40 : Int.random(in: 0...3000, using: &random)
                let bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: length)
                let line = line(number, bytes)
                let place = file.append(line, after: rows[row].last?.place, isSecret: number % 5 == 0)
                if let place { rows[row].append((place, line)) } else { refused += 1 }
            } else if let first = rows[row].first {
                let (line, next) = try file.take(first.place)
                rows[row].removeFirst()
                #expect(line == first.line && next == rows[row].first?.place, "line \(number)")
                taken += 1
            }
        }
        #expect(taken > 1000 && refused == 0)
        for row in rows {
            for (index, entry) in row.enumerated() {
                let (line, next) = try file.take(entry.place)
                #expect(line == entry.line && next == (index + 1 < row.count ? row[index + 1].place : nil))
            }
        }
    }

    @Test("it grows as far as it may, refuses what does not fit, loses nothing, and uses its room again")
    func bounded() throws {
        let scratch = try ScratchDirectory()
        let file = try AsideFile(in: scratch.path, mostBytes: 16 << 10, pieceSize: 4096)
        let bytes = [UInt8](repeating: 7, count: 1000)
        for _ in 0..<20 {
            var places: [AsideFile.Place] = []
            while let place = file.append(line(places.count, bytes), after: places.last, isSecret: false) {
                places.append(place)
            }
            #expect(places.count == 12)
            #expect(file.append(line(99, []), after: places.last, isSecret: false) != nil)
            #expect(file.append(line(99, bytes), after: places.last, isSecret: false) == nil)
            for (number, place) in places.enumerated() {
                let (line, next) = try file.take(place)
                #expect(line.number == number && line.bytes == bytes)
                if number < 11 { #expect(next == places[number + 1]) } else { _ = try file.take(try #require(next)) }
            }
        }
        #expect(try unnamedFiles(in: scratch.path).map(\.count).max() ?? 0 <= 16 << 10)
        #expect(file.append(line(1, [UInt8](repeating: 1, count: 5000)), after: nil, isSecret: false) == nil)
    }

    @Test("what may hold credentials is on no disk as it is")
    func secrets() throws {
        let scratch = try ScratchDirectory()
        let file = try AsideFile(in: scratch.path, mostBytes: 1 << 20, pieceSize: 4096)
        let secret = "planted-in-a-line"
        var first: AsideFile.Place?
        for number in 0..<200 {
            let place = file.append(
                line(number, Array("http://u:\(secret)@h/".utf8)), after: nil, isSecret: number % 2 == 0)
            if number == 0 { first = place }
        }
        let content = try #require(try unnamedFiles(in: scratch.path).max { $0.count < $1.count })
        // Those that were said to hold none are found: the test looks at the right place.
        let found = String(decoding: content, as: UTF8.self).components(separatedBy: secret).count - 1
        #expect((50...100).contains(found), "\(found)")
        #expect(try file.take(try #require(first)).line.bytes == Array("http://u:\(secret)@h/".utf8))
    }
}

import Glibc
import TestSupport
import Testing
import TrawlJSON

@Suite("Random JSON")
struct RandomJSONTests {
    private static func value(_ random: inout SeededGenerator, depth: Int) -> Value {
        switch Int.random(in: 0..<(depth < 6 ? 6 : 4), using: &random) {
        case 0: return .null
        case 1: return .bool(Bool.random(using: &random))
        case 2: return .number(String(Int(truncatingIfNeeded: random.next()) >> Int.random(in: 0...63, using: &random)))
        case 3: return .string(text(&random))
        case 4: return .array((0..<Int.random(in: 0...4, using: &random)).map { _ in value(&random, depth: depth + 1) })
        default:
            return .object(
                (0..<Int.random(in: 0...4, using: &random)).map { _ in
                    .init(name: "name", value: value(&random, depth: depth + 1))
                })
        }
    }

    private static func text(_ random: inout SeededGenerator) -> String {
        var text = String.UnicodeScalarView()
        for _ in 0..<Int.random(in: 0...12, using: &random) {
            let limit: UInt32 = [0x20, 0x80, 0x100, 0x3000, 0x11_0000].randomElement(using: &random) ?? 0x80
            if let scalar = Unicode.Scalar(UInt32.random(in: 0..<limit, using: &random)) { text.append(scalar) }
        }
        return String(text)
    }

    private static func write(_ value: Value, _ writer: inout JSONWriter) {
        switch value {
        case .null: writer.null()
        case .bool(let value): writer.bool(value)
        case .number(let text): writer.integer(Int(text) ?? 0)
        case .string(let text): writer.string(text)
        case .array(let elements):
            writer.beginArray()
            for element in elements { write(element, &writer) }
            writer.endArray()
        case .object(let members):
            writer.beginObject()
            for member in members {
                writer.key("name")
                write(member.value, &writer)
            }
            writer.endObject()
        }
    }

    private static func sample(_ random: inout SeededGenerator) -> (Value, [UInt8]) {
        let value = value(&random, depth: 0)
        var writer = JSONWriter()
        write(value, &writer)
        return (value, Array(writer.bytes))
    }

    @Test("what is written is read again", arguments: [1, 2, 3, 4] as [UInt64])
    func roundTrips(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<1000 {
            let (value, bytes) = Self.sample(&random)
            #expect(try Value.parse(bytes) == value, "seed \(seed)")
            #expect(try Value.skip(bytes) == bytes, "seed \(seed)")
        }
    }

    @Test("damaged texts never trap, and both ways of reading agree on what is JSON")
    func mutations() {
        var random = SeededGenerator(seed: 5)
        let rounds = runsLongTests ? 1_000_000 : 5_000
        let hostile = Array("{}[]\",:\\u0dD8tfn-+.eE \n\t\u{0}".utf8) + [0xC2, 0xED, 0xFF]
        var accepted = 0
        for round in 0..<rounds {
            var bytes = Self.sample(&random).1
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let byte = hostile.randomElement(using: &random) ?? 0
                let place = Int.random(in: 0...bytes.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes.insert(byte, at: place)
                case 1 where place < bytes.count: bytes.remove(at: place)
                case 2 where place < bytes.count: bytes[place] = byte
                default: bytes.removeLast(bytes.count - place)
                }
            }
            let parsed = Result { () throws(JSONError) in try Value.parse(bytes) }
            let skipped = Result { () throws(JSONError) in try Value.skip(bytes) }
            switch (parsed, skipped) {
            case (.success, .success): accepted += 1
            case (.failure(let error), .success):
                // Only where the text of a string is wanted.
                if error.reason != .loneSurrogate { Issue.record("round \(round): \(error)") }
            case (.failure, .failure): break
            case (.success, .failure(let error)): Issue.record("round \(round): \(error)")
            }
        }
        #expect(accepted > rounds / 100)
    }
}

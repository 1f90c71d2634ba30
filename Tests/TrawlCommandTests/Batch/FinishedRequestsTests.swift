import TestSupport
import Testing

@testable import TrawlCommand

@Suite("What an earlier run has finished")
struct FinishedRequestsTests {
    private func key(_ number: Int) -> RequestKey { RequestKey(bytes: "key \(number)".utf8) }

    @Test("nothing is finished at first")
    func empty() {
        var finished = FinishedRequests(in: ScratchPlaces(["/tmp"]))
        #expect(finished.isEmpty)
        #expect(finished.take(key(1)) == nil)
        #expect(!finished.contains(fileName: "a"))
    }

    @Test("a record is taken once, those of success first")
    func counts() throws {
        var finished = FinishedRequests(in: ScratchPlaces(["/tmp"]))
        try finished.insert(key(1), .failed)
        try finished.insert(key(1), .fetched)
        try finished.insert(key(1), .failed)
        #expect(finished.take(key(1)) == .fetched)
        #expect(finished.take(key(1)) == .failed)
        #expect(finished.take(key(1)) == .failed)
        #expect(finished.take(key(1)) == nil)
        try finished.insert(key(1), .fetched)
        #expect(finished.take(key(1)) == .fetched)
        #expect(finished.take(key(1)) == nil)
    }

    @Test("a later record takes the place of one of a failure")
    func superseded() throws {
        var finished = FinishedRequests(in: ScratchPlaces(["/tmp"]))
        try finished.insert(key(1), .failed)
        try finished.insert(key(1), .failed, isAgain: true)
        #expect(finished.take(key(1)) == .failed)
        #expect(finished.take(key(1)) == nil)
        try finished.insert(key(2), .failed)
        try finished.insert(key(2), .fetched, isAgain: true)
        #expect(finished.take(key(2)) == .fetched)
        #expect(finished.take(key(2)) == nil)
    }

    @Test("where the earlier record is not there, a later one takes nothing away, not even itself")
    func supersedesNothing() throws {
        for ending in [FinishedRequests.Ending.fetched, .failed] {
            var finished = FinishedRequests(in: ScratchPlaces(["/tmp"]))
            try finished.insert(key(1), ending, isAgain: true)
            #expect(finished.take(key(1)) == ending)
            #expect(finished.take(key(1)) == nil)
            // One that was taken is not there either.
            try finished.insert(key(2), .failed)
            #expect(finished.take(key(2)) == .failed)
            try finished.insert(key(2), ending, isAgain: true)
            #expect(finished.take(key(2)) == ending)
            #expect(finished.take(key(2)) == nil)
        }
    }

    @Test("it agrees with a dictionary in whatever order things happen", arguments: [1, 2, 3, 4] as [UInt64])
    func model(seed: UInt64) throws {
        var state = seed
        func random(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        var finished = FinishedRequests(in: ScratchPlaces(["/tmp"]))
        var model: [Int: (fetched: Int, failed: Int)] = [:]
        var names = Set<Int>()
        for step in 0..<40_000 {
            let number = random(6000)
            switch random(8) {
            case 0, 1, 2:
                try finished.insert(key(number), .fetched)
                model[number, default: (0, 0)].fetched += 1
            case 3:
                try finished.insert(key(number), .failed)
                model[number, default: (0, 0)].failed += 1
            case 4:
                try finished.insert(fileName: "h/\(number)")
                names.insert(number)
            case 5:
                #expect(
                    finished.contains(fileName: "h/\(number)") == names.contains(number), "seed \(seed), step \(step)")
            default:
                var left = model[number] ?? (0, 0)
                var expected: FinishedRequests.Ending?
                if left.fetched > 0 {
                    left.fetched -= 1
                    expected = .fetched
                } else if left.failed > 0 {
                    left.failed -= 1
                    expected = .failed
                }
                model[number] = left
                #expect(finished.take(key(number)) == expected, "seed \(seed), step \(step)")
            }
        }
        for (number, left) in model {
            var count = 0
            while finished.take(key(number)) != nil { count += 1 }
            #expect(count == left.fetched + left.failed, "seed \(seed), key \(number)")
        }
    }

    // With each looked up behind all others this would be some billions of looks.
    @Test("keys that are alike in half of their bits are found as fast as others", .timeLimit(.minutes(10)))
    func alike() throws {
        var finished = FinishedRequests(in: ScratchPlaces(["/tmp"]))
        let keys = (0..<130_000).map { RequestKey(bits: UInt128($0) << 64) }
        var found = 0
        let time = try ProcessorTime.spent {
            for key in keys { try finished.insert(key, .fetched) }
            for key in keys where finished.take(key) == .fetched { found += 1 }
        }
        #expect(found == keys.count && time < .seconds(60))
        #expect(finished.take(keys[0]) == nil)
    }

    @Test("a name of a file is not a key of a request")
    func namesApart() throws {
        var finished = FinishedRequests(in: ScratchPlaces(["/tmp"]))
        try finished.insert(fileName: "a")
        #expect(finished.contains(fileName: "a") && !finished.contains(fileName: "b"))
        #expect(finished.take(RequestKey(url: "a", out: nil)) == nil)
        #expect(finished.take(RequestKey(bytes: "a".utf8)) == nil)
    }
}

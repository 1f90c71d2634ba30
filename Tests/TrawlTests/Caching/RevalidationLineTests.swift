import Testing
import TrawlStore

@testable import Trawl

@Suite("Validations with nobody waiting")
struct RevalidationLineTests {
    private typealias Line = RevalidationLine<Int>

    private func digest(_ number: Int) -> CacheDigest { CacheDigest(1, UInt64(number)) }

    @Test("so many run at a time, so many wait in their order, and none is lost until there is no room")
    func order() {
        var line = Line()
        let most = Line.mostRunning + Line.mostWaiting
        var running: [Int] = []
        for number in 0..<most {
            #expect(line.hasRoom(for: digest(number)))
            if line.admit(number, for: digest(number)) { running.append(number) }
        }
        #expect(running == Array(0..<Line.mostRunning))
        #expect(!line.hasRoom(for: digest(most)))
        let isAdmitted = line.admit(most, for: digest(most))
        let early = line.next()
        #expect(!isAdmitted && early == nil)
        var ended: [Int] = []
        while !running.isEmpty {
            let number = running.removeFirst()
            line.end(digest(number))
            ended.append(number)
            while let next = line.next() { running.append(next) }
            #expect(running.count <= Line.mostRunning)
        }
        #expect(ended == Array(0..<most))
        #expect(line.isEmpty)
    }

    @Test("the same is asked about once at a time, whether it runs or waits, and has room")
    func once() {
        var line = Line()
        var begun = 0
        for number in 0..<(Line.mostRunning + Line.mostWaiting) where line.admit(number, for: digest(number)) {
            begun += 1
        }
        for number in [0, Line.mostRunning, Line.mostRunning + Line.mostWaiting - 1] {
            #expect(line.hasRoom(for: digest(number)))
            let isAdmitted = line.admit(number, for: digest(number))
            #expect(!isAdmitted)
        }
        #expect(begun == Line.mostRunning)
        line.end(digest(0))
        // Known to nobody any more.
        line.end(digest(0))
        let next = line.next()
        let none = line.next()
        #expect(next == Line.mostRunning && none == nil)
    }
}

import Testing
import TrawlFrontier
import TrawlHTTP

@testable import Trawl

@Suite("What a queue knows of its fetches")
struct QueueStateTests {
    private let start = MonotonicInstant(nanoseconds: 1_000_000_000)

    /// A queue that runs, with as many fetches that were started.
    private struct Started {
        var state: QueueState
        var ids: [QueueMachine.FetchID] = []

        init(_ count: Int, counting: FetchQueue.Counting = .accurate) {
            var settings = FetchQueue.Settings()
            settings.progress = counting
            settings.cancelsOthersOnFailure = false
            state = QueueState(settings, queue: 1)
            // One that runs asks for no sizes.
            state.machine.start()
            for number in 0..<count { ids.append(add("http://a.test/\(number)")) }
            carryOut()
        }

        mutating func add(_ url: String) -> QueueMachine.FetchID {
            state.add(Request(url), into: .memory, .normal, after: [], needsSuccess: true)
        }

        mutating func end(_ id: QueueMachine.FetchID) {
            state.ended(id, forSize: false, .failure(QueueState.cancelled))
            carryOut()
        }

        mutating func remaining(at now: MonotonicInstant) -> Duration? { state.progress(at: now).download.remaining }

        /// Does what the machine says, as the queue does.
        mutating func carryOut() {
            while let action = state.machine.next() {
                switch action {
                case .start(let id):
                    state.begin(id)
                    _ = state.launch(id, forSize: false)
                case .tellFinished(let id, _): _ = state.conclude(id, because: nil)
                case .tellFailed(let id, let reason, _): _ = state.conclude(id, because: reason)
                case .tellQueueFinished: state.concludeAll()
                case .startSizing, .goOn, .cancel, .cancelSizing, .resetProgress: break
                }
            }
        }
    }

    private func head(_ status: UInt16, length: Int64) throws -> Response.ResponseHead {
        var fields = FieldLines()
        try fields.append("Content-Length", "\(length)")
        return Response.ResponseHead(
            TrawlHTTP.ResponseHead(status: status, version: .http1_1, reason: "", fields: fields))
    }

    @Test(
        "what is gone on with counts from the first byte of the whole, known before or not", arguments: [true, false])
    func rest(isKnown: Bool) throws {
        var queue = Started(1)
        let id = queue.ids[0]
        if isKnown {
            queue.state.attemptBegan(id)
            queue.state.headCame(try head(200, length: 500), of: id)
        }
        queue.state.attemptBegan(id)
        queue.state.headCame(try head(206, length: 400), of: id)
        queue.state.goesOn(behind: 100, of: id)
        var download = queue.state.progress(at: start).download
        #expect(download.completed == 100 && download.total == 500)
        let progress = FetchProgress(received: 50, expected: 400, sent: 0, decoded: 50)
        queue.state.measured(progress, of: id, at: start)
        download = queue.state.progress(at: start).download
        #expect(download.completed == 150 && download.total == 500)
        // Its reader has had the head of the whole, and is told no other.
        queue.state.attemptBegan(id)
        queue.state.goesOn(behind: 200, of: id)
        download = queue.state.progress(at: start).download
        #expect(download.completed == 200 && download.total == 500)
        // A part that was asked for as such.
        queue.state.attemptBegan(id)
        queue.state.headCame(try head(206, length: 30), of: id)
        download = queue.state.progress(at: start).download
        #expect(download.completed == 0 && download.total == 30)
        queue.state.headCame(try head(206, length: .max), of: id)
        queue.state.goesOn(behind: 100, of: id)
        download = queue.state.progress(at: start).download
        #expect(download.completed == 100 && download.total == .max)
    }

    @Test("what runs on after progress was set to nothing counts no more, though it goes on or begins anew")
    func uncounted() throws {
        var queue = Started(1)
        let id = queue.ids[0]
        func measure(_ bytes: UInt64) {
            let progress = FetchProgress(received: bytes, expected: 1000, sent: 0, decoded: bytes)
            queue.state.measured(progress, of: id, at: start)
        }
        queue.state.attemptBegan(id)
        queue.state.headCame(try head(200, length: 1000), of: id)
        measure(400)
        #expect(queue.state.decoded == 400)
        queue.state.change { $0.cancelAll() }
        #expect(queue.state.decoded == 0)
        let rate = queue.state.progress(at: start).download.bytesPerSecond
        for bytes in [600, 700] as [UInt64] { measure(bytes) }
        var progress = queue.state.progress(at: start)
        #expect(progress.decoded == 0 && progress.download.completed == 0 && progress.download.bytesPerSecond == rate)
        queue.state.attemptBegan(id)
        progress = queue.state.progress(at: start)
        #expect(progress.decoded == 0)
        queue.end(id)
        #expect(queue.state.decoded == 0 && queue.state.machine.pendingCount == 0)
    }

    @Test("nor does what is handed over only after progress was set to nothing, though its turn came before")
    func lateLaunch() throws {
        var queue = Started(0)
        var request = Request("http://a.test/")
        request.body = .text("sent")
        let id = queue.state.add(request, into: .memory, .normal, after: [], needsSuccess: true)
        let turn = queue.state.machine.next()
        #expect(turn == .start(id))
        queue.state.begin(id)
        queue.state.change { $0.cancelAll() }
        let launch = queue.state.launch(id, forSize: false)
        #expect(launch != nil)
        queue.state.attemptBegan(id)
        queue.state.headCame(try head(200, length: 1000), of: id)
        let moved = FetchProgress(received: 400, expected: 1000, sent: 4, decoded: 400)
        queue.state.measured(moved, of: id, at: start)
        let progress = queue.state.progress(at: start)
        #expect(progress.decoded == 0 && progress.upload == .nothing)
        #expect(progress.download.completed == 0 && progress.download.bytesPerSecond == 0)
        queue.end(id)
        #expect(queue.state.decoded == 0 && queue.state.machine.pendingCount == 0)
    }

    @Test("time in which nothing ran does not make the time left longer, whether it was suspended or all was over")
    func idle() {
        let (soon, late) = (MonotonicInstant(nanoseconds: 1 << 60), MonotonicInstant(nanoseconds: 1 << 61))
        var queue = Started(1, counting: .simple)
        queue.state.machine.suspend()
        let second = queue.add("http://a.test/second")
        queue.end(queue.ids[0])
        var values = [queue.remaining(at: soon), queue.remaining(at: late)]
        #expect(values[0] == values[1])
        queue.state.machine.start()
        queue.carryOut()
        values = [queue.remaining(at: soon), queue.remaining(at: late)]
        #expect((values[0] ?? .zero) < (values[1] ?? .zero), "one runs")
        queue.end(second)
        queue.state.machine.suspend()
        _ = queue.add("http://a.test/third")
        values = [queue.remaining(at: soon), queue.remaining(at: late)]
        #expect(values[0] == values[1])
    }
}

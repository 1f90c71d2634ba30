import Foundation
import Glibc
import Testing
import TrawlHTTP
import TrawlProtocol

@Suite("Where bodies go", .serialized)
struct SinkTests {
    @Test(
        "memory: small bodies inside the frame, large ones in a sealed file",
        arguments: [0, 1, 65_536, 65_537, 3_000_000])
    func memory(size: Int) throws {
        let exchange = try TestCoordinator().fetch("/bytes/\(size)")
        #expect(exchange.body == stream(size))
        #expect(exchange.wasSealed == (size > 65_536))
    }

    @Test("discard: only the length is told")
    func discard() throws {
        let exchange = try TestCoordinator().fetch("/bytes/70000") { $0.sink = .discard }
        #expect(exchange.end.outcome == .complete(.discarded(length: 70_000)))
    }

    @Test("file: whole under its name, with the directories it needs", arguments: [1, 65_536, 65_537, 3_000_000])
    func file(size: Int) throws {
        let scratch = try Scratch()
        let worker = try TestCoordinator(roots: [scratch.path])
        let exchange = try worker.fetch("/bytes/\(size)?chunked=1") {
            $0.sink = .file(root: 0, path: "a/b/c", collision: .fail)
            $0.options.insert(.syncsFile)
        }
        #expect(exchange.end.outcome == .complete(.file(length: UInt64(size))))
        #expect(scratch.content("a/b/c") == stream(size))
        #expect(scratch.names == ["a", "a/b", "a/b/c"])
    }

    @Test(
        "file: nothing is left after a failure",
        arguments: ["/truncate?declared=200000&sent=100000", "/gzip-badcrc", "/reset?after=100000"])
    func fileFailure(target: String) throws {
        let scratch = try Scratch()
        let worker = try TestCoordinator(roots: [scratch.path])
        let exchange = try worker.fetch(target) { $0.sink = .file(root: 0, path: "x", collision: .replace) }
        #expect(exchange.failure != nil)
        #expect(scratch.names.isEmpty)
    }

    @Test("file: an earlier one is replaced only when the lease says so")
    func replacing() throws {
        let scratch = try Scratch()
        let worker = try TestCoordinator(roots: [scratch.path])
        _ = try worker.fetch("/bytes/10") { $0.sink = .file(root: 0, path: "x", collision: .fail) }
        let second = try worker.fetch("/bytes/20") { $0.sink = .file(root: 0, path: "x", collision: .fail) }
        #expect(second.failure?.kind == .file)
        #expect(second.failure?.systemError == EEXIST)
        #expect(scratch.content("x") == stream(10))
        let third = try worker.fetch("/bytes/20") { $0.sink = .file(root: 0, path: "x", collision: .replace) }
        #expect(third.failure == nil)
        #expect(scratch.content("x") == stream(20))
        #expect(scratch.names == ["x"])
    }

    @Test("file: one of the same bytes is the file of a hop that is done again, and no other is")
    func doneAgain() throws {
        let scratch = try Scratch()
        let worker = try TestCoordinator(roots: [scratch.path])
        func exchange(_ size: Int, _ collision: FileCollision) throws -> Exchange {
            try worker.fetch("/bytes/\(size)") { $0.sink = .file(root: 0, path: "x", collision: collision) }
        }
        #expect(try exchange(10, .failUnlessIdentical).end.outcome == .complete(.file(length: 10)))
        #expect(try exchange(10, .failUnlessIdentical).end.outcome == .complete(.file(length: 10, isAdopted: true)))
        #expect(try exchange(20, .failUnlessIdentical).failure?.systemError == EEXIST)
        #expect(try exchange(10, .fail).failure?.systemError == EEXIST)
        #expect(scratch.content("x") == stream(10) && scratch.names == ["x"])
    }

    @Test("file: a taken name is followed by numbers, and the worker says which file it is")
    func numbers() throws {
        let scratch = try Scratch()
        let worker = try TestCoordinator(roots: [scratch.path])
        func delivery(
            _ path: String, _ size: Int, from first: UInt32 = 0, adopts: Bool = false
        ) throws -> HopOutcome {
            try worker.fetch("/bytes/\(size)") {
                $0.sink = .file(root: 0, path: path, collision: .number(from: first, adoptsIdentical: adopts))
            }.end.outcome
        }
        #expect(try delivery("a/x", 10) == .complete(.file(length: 10)))
        #expect(try delivery("a/x", 20) == .complete(.file(length: 20, name: "a/x.1")))
        #expect(try delivery("a/x", 30, from: 5) == .complete(.file(length: 30, name: "a/x.5")))
        #expect(try delivery("a/x", 100_000) == .complete(.file(length: 100_000, name: "a/x.2")))
        #expect(try delivery("a/x", 10, adopts: true) == .complete(.file(length: 10, isAdopted: true)))
        #expect(
            try delivery("a/x", 100_000, adopts: true)
                == .complete(.file(length: 100_000, name: "a/x.2", isAdopted: true)))
        #expect(try delivery("a/x/y", 40) == .complete(.file(length: 40, name: "a/x%2Fy")))
        #expect(try delivery("a", 50) == .complete(.file(length: 50, name: "a.1")))
        #expect(scratch.content("a/x") == stream(10))
        #expect(scratch.content("a/x.1") == stream(20))
        #expect(scratch.names == ["a", "a.1", "a/x", "a/x%2Fy", "a/x.1", "a/x.2", "a/x.5"])
    }

    @Test("file: with one number alone it has just that name, or none and comes along")
    func onlyNumber() throws {
        let scratch = try Scratch()
        let worker = try TestCoordinator(roots: [scratch.path])
        func exchange(
            _ path: String, _ size: Int, number: UInt32 = 0, query: String = "", options: LeaseOptions = []
        ) throws -> Exchange {
            try worker.fetch("/bytes/\(size)" + query) {
                $0.sink = .file(root: 0, path: path, collision: .onlyNumber(number))
                $0.options.formUnion(options)
            }
        }
        #expect(try exchange("a/x", 10).end.outcome == .complete(.file(length: 10)))
        #expect(try exchange("a/x", 20, number: 3).end.outcome == .complete(.file(length: 20, name: "a/x.3")))
        // Taken, by the same bytes too.
        for (size, number) in [(10, 0), (30, 0), (100_000, 3)] as [(Int, UInt32)] {
            let taken = try exchange("a/x", size, number: number)
            #expect(taken.end.outcome == .complete(.unnamed(length: UInt64(size))) && taken.body == stream(size))
        }
        let empty = try exchange("a/x", 0, options: .createsEmptyFile)
        #expect(empty.end.outcome == .complete(.unnamed(length: 0)))
        // Another path or name than was asked for.
        #expect(try exchange("a/x/y", 40).end.outcome == .complete(.unnamed(length: 40)))
        let field = "?field=Content-Disposition:%20attachment%3B%20filename%3Dz"
        let suggested = try exchange("a/y", 50, query: field, options: .namesFromDisposition)
        #expect(suggested.end.outcome == .complete(.unnamed(length: 50, name: "a/z")) && suggested.body == stream(50))
        let unnamed = try exchange("a/y", 60, options: .namesFromDisposition)
        #expect(unnamed.end.outcome == .complete(.file(length: 60)))
        #expect(scratch.names == ["a", "a/x", "a/x.3", "a/y"])
    }

    @Test(
        "file: paths that lead out of the root, and roots that do not exist",
        arguments: ["../x", "/x", "a/../../x", ""])
    func paths(path: String) throws {
        let scratch = try Scratch()
        let worker = try TestCoordinator(roots: [scratch.path])
        #expect(
            try worker.fetch("/bytes/1") { $0.sink = .file(root: 0, path: path, collision: .replace) }.failure?.kind
                == .file
        )
        #expect(
            try worker.fetch("/bytes/1") { $0.sink = .file(root: 7, path: "x", collision: .replace) }.failure?.kind
                == .file)
        #expect(scratch.names.isEmpty)
    }

    @Test("file: no file for an empty body or an error page, unless the lease wants one")
    func withoutFile() throws {
        let scratch = try Scratch()
        let worker = try TestCoordinator(roots: [scratch.path])
        let empty = try worker.fetch("/bytes/0") { $0.sink = .file(root: 0, path: "empty", collision: .fail) }
        #expect(empty.end.outcome == .complete(.discarded(length: 0)))
        let error = try worker.fetch("/status/404?body=gone") {
            $0.sink = .file(root: 0, path: "error", collision: .fail)
        }
        #expect(error.body == Array("gone".utf8))
        #expect(scratch.names.isEmpty)
        _ = try worker.fetch("/bytes/0") {
            $0.sink = .file(root: 0, path: "empty", collision: .fail)
            $0.options.insert(.createsEmptyFile)
        }
        _ = try worker.fetch("/status/404?body=gone") {
            $0.sink = .file(root: 0, path: "error", collision: .fail)
            $0.options.insert(.savesErrorBodies)
        }
        #expect(scratch.names == ["empty", "error"])
        #expect(scratch.content("error") == Array("gone".utf8))
    }

    @Test("file: the body of an error, and of no other response, is dropped when the lease says so")
    func droppedErrors() throws {
        let scratch = try Scratch()
        let worker = try TestCoordinator(roots: [scratch.path])
        func drops(_ lease: inout Lease) {
            lease.sink = .file(root: 0, path: "x", collision: .replace)
            lease.options.insert(.savesErrorBodies)
            lease.options.insert(.dropsErrorBodies)
        }
        let gone = try worker.fetch("/status/404?body=gone", .get) { drops(&$0) }
        #expect(gone.end.outcome == .complete(.discarded(length: 4)))
        let lease = try worker.lease("/status/503?body=gone", .get) {
            drops(&$0)
            $0.options.insert(.asksAboutFailures)
        }
        worker.send(.lease(lease))
        guard case .head(lease.id, _, _, _)? = try worker.next()?.0 else {
            Issue.record("no head")
            return
        }
        worker.send(.answer(lease: lease.id, .deliver))
        #expect(try worker.collect(lease.id).end.outcome == .complete(.discarded(length: 4)))
        #expect(scratch.names.isEmpty)
        _ = try worker.fetch("/status/300?body=several", .get) { drops(&$0) }
        #expect(scratch.content("x") == Array("several".utf8))
    }

    @Test("file: the body of a failure that may pass, and of no other, is dropped when the lease says so")
    func droppedPassingErrors() throws {
        let scratch = try Scratch()
        let worker = try TestCoordinator(roots: [scratch.path])
        func outcome(_ status: Int) throws -> HopOutcome {
            try worker.fetch("/status/\(status)?body=gone", .get) {
                $0.sink = .file(root: 0, path: "\(status)", collision: .fail)
                $0.options.insert(.savesErrorBodies)
                $0.options.insert(.dropsPassingErrors)
            }.end.outcome
        }
        for status in [408, 429, 500, 502, 503, 504] {
            #expect(try outcome(status) == .complete(.discarded(length: 4)), "\(status)")
        }
        for status in [300, 400, 404, 501] {
            #expect(try outcome(status) == .complete(.file(length: 4)), "\(status)")
        }
        #expect(scratch.names == ["300", "400", "404", "501"])
    }

    @Test("descriptor: the bytes are in the file that came with the lease")
    func descriptor() throws {
        let worker = try TestCoordinator()
        let file = try temporaryFile([])
        let copy = dup(file)
        defer { close(copy) }
        let exchange = try worker.fetch("/bytes/200000", descriptors: [file]) { $0.sink = .descriptor }
        #expect(exchange.end.outcome == .complete(.descriptor(length: 200_000)))
        var bytes = [UInt8](repeating: 0, count: 200_000)
        #expect(pread(copy, &bytes, bytes.count, 0) == bytes.count)
        #expect(bytes == stream(200_000))
    }

    @Test(
        "stream: everything comes in pieces of bounded size, whatever the credit",
        arguments: [1, 1000, 100_000, 10_000_000])
    func streaming(credit: Int) throws {
        let worker = try TestCoordinator()
        for target in ["/bytes/300000", "/bytes/300000?chunked=1"] where credit > 1 {
            let exchange = try worker.fetch(target) { $0.sink = .stream(credit: UInt32(credit)) }
            #expect(exchange.end.outcome == .complete(.streamed(length: 300_000)))
            #expect(exchange.streamed == stream(300_000))
        }
        let coded = try worker.fetch("/gzip?chunked=1") { $0.sink = .stream(credit: UInt32(credit)) }
        #expect(coded.streamed == plainText)
    }

    @Test("stream: without credit nothing comes, and an exact credit is enough for the end")
    func noCredit() throws {
        let worker = try TestCoordinator()
        let lease = try worker.lease("/bytes/5000?chunked=1") { $0.sink = .stream(credit: 0) }
        worker.send(.lease(lease))
        #expect(!worker.hasMessage(milliseconds: 200))
        worker.send(.credit(lease: lease.id, bytes: 3000))
        guard case .data(_, let first)? = try worker.next()?.0 else {
            Issue.record("no data")
            return
        }
        #expect(first == Array(stream(5000)[..<3000]))
        #expect(!worker.hasMessage(milliseconds: 100))
        worker.send(.credit(lease: lease.id, bytes: 2000))
        guard case .data(_, let second)? = try worker.next()?.0, case .ended(let end)? = try worker.next()?.0 else {
            Issue.record("no end")
            return
        }
        #expect(first + second == stream(5000))
        #expect(end.outcome == .complete(.streamed(length: 5000)))
    }

    @Test("a transfer rests at its head until the answer, and can change its destination then")
    func answers() throws {
        let scratch = try Scratch()
        let worker = try TestCoordinator(roots: [scratch.path])
        for (target, size) in [("/bytes/0", 0), ("/bytes/100", 100), ("/bytes/200000?chunked=1", 200_000)] {
            for choice in 0..<4 {
                let lease = try worker.lease(target) { $0.heads = .answered }
                worker.send(.lease(lease))
                guard case .head(lease.id, let head, _, _)? = try worker.next()?.0 else {
                    Issue.record("no head")
                    return
                }
                #expect(head.status == 200)
                #expect(!worker.hasMessage(milliseconds: 20))
                switch choice {
                case 0:
                    worker.send(.answer(lease: lease.id, .proceed))
                    #expect(try worker.collect(lease.id).body == stream(size))
                case 1:
                    worker.send(.answer(lease: lease.id, .redirectBody(.file(root: 0, path: "x", collision: .replace))))
                    #expect(try worker.collect(lease.id).failure == nil)
                    #expect(size == 0 || scratch.content("x") == stream(size))
                case 2:
                    let file = try temporaryFile([])
                    let copy = dup(file)
                    worker.send(.answer(lease: lease.id, .redirectBody(.descriptor)), descriptors: [file])
                    #expect(try worker.collect(lease.id).end.outcome == .complete(.descriptor(length: UInt64(size))))
                    #expect(lseek(copy, 0, SEEK_END) == size)
                    close(copy)
                default:
                    worker.send(.answer(lease: lease.id, .cancel))
                    #expect(try worker.collect(lease.id).failure?.kind == .cancelled)
                }
            }
        }
    }

    @Test("an early head comes before the body, and not again at the end")
    func earlyHead() throws {
        let exchange = try TestCoordinator().fetch("/bytes/10") { $0.heads = .early }
        #expect(exchange.earlyHead?.status == 200)
        #expect(exchange.end.head == nil)
        #expect(exchange.body == stream(10))
    }
}

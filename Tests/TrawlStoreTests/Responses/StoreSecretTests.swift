import Foundation
import Glibc
import Testing
import TrawlPlatform

@testable import TrawlStore

@Suite("The random bytes of a store")
struct StoreSecretTests {
    /// What may lie there in place of the file.
    enum Nonsense: String, CaseIterable, Sendable {
        case fifo, link, short, long
    }

    private let scratch = CacheScratch()
    private var path: String { scratch.cache + "/secret" }

    @Test("what is no file of their length is replaced, and nobody waits for it", arguments: Nonsense.allCases)
    func nonsense(kind: Nonsense) throws {
        #expect(mkdir(scratch.cache, 0o700) == 0)
        switch kind {
        case .fifo: #expect(mkfifo(path, 0o600) == 0)
        case .link: #expect(symlink("/dev/zero", path) == 0)
        case .short: try Data(count: StoreSecret.size - 1).write(to: URL(fileURLWithPath: path))
        case .long: try Data(count: StoreSecret.size + 1).write(to: URL(fileURLWithPath: path))
        }
        let found = Guarded<[UInt8]>([])
        let directory = scratch.cache
        let reader = Thread {
            let bytes = (try? StoreSecret.of(directory)) ?? []
            found.withLock { $0 = bytes }
        }
        reader.start()
        waitUntil { reader.isFinished }
        #expect(reader.isFinished)
        // Lets one go that waits for who writes to the FIFO.
        let writer = Glibc.open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
        if writer >= 0 { close(writer) }
        let bytes = found.withLock { $0 }
        #expect(bytes.count == StoreSecret.size)
        #expect(Set(bytes).count > 1)
        #expect(try StoreSecret.of(scratch.cache) == bytes)
    }

    @Test("a directory of that name is an error that names it")
    func directory() {
        #expect(mkdir(scratch.cache, 0o700) == 0 && mkdir(path, 0o700) == 0)
        let error = #expect(throws: SystemError.self) { try StoreSecret.of(scratch.cache) }
        #expect(error?.call.contains(path) == true)
    }
}

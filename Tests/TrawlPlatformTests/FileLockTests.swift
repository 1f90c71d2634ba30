import Glibc
import Testing
import TrawlHTTP

@testable import TrawlPlatform

@Suite("Locks of files")
struct FileLockTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
        directory.put("lock", "")
    }

    private func opened() throws -> Descriptor {
        let file = open(directory.file("lock"), O_RDWR | O_CLOEXEC)
        return Descriptor(adopting: try #require(file >= 0 ? file : nil))
    }

    @Test("one has it at a time, and whoever waits gets it")
    func exclusive() throws {
        let first = try opened()
        let second = try opened()
        #expect(FileLock.take(first.rawValue) == 0)
        #expect(FileLock.take(first.rawValue) == 0)
        let began = MonotonicClock.now()
        #expect(FileLock.take(second.rawValue) == EWOULDBLOCK)
        #expect(FileLock.take(second.rawValue, within: .milliseconds(20)) == EWOULDBLOCK)
        #expect(began.duration(to: MonotonicClock.now()) >= .milliseconds(20))
        let number = first.rawValue
        let holder = try NamedThread.start(name: "holder") {
            MonotonicClock.sleep(for: .milliseconds(30))
            FileLock.release(number)
        }
        #expect(FileLock.take(second.rawValue, within: .seconds(60)) == 0)
        holder.join()
        #expect(FileLock.take(first.rawValue) == EWOULDBLOCK)
    }

    @Test("copies of the descriptor hold it too, but not once it was let go of")
    func copies() throws {
        let second = try opened()
        let copy: Descriptor
        do {
            let first = try opened()
            copy = try first.duplicated(atLeast: 3)
            #expect(FileLock.take(first.rawValue) == 0)
        }
        #expect(FileLock.take(second.rawValue) == EWOULDBLOCK)
        FileLock.release(copy.rawValue)
        #expect(FileLock.take(second.rawValue) == 0)
    }

    @Test("what is no file has none")
    func none() {
        #expect(FileLock.take(-1, within: .seconds(60)) == EBADF)
    }
}

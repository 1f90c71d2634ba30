import Glibc
import Testing
import TrawlPlatform
import TrawlProtocol

@testable import TrawlTransfer

@Suite("Where a body goes")
struct BodyStoreTests {
    private enum End: CaseIterable {
        case finish, handOver, abandon
    }

    /// A store with a part of a body in the file of another process, behind what was there before, and a second
    /// descriptor of that file. The file system says once that there is no room.
    private func storeOnFullNetwork() throws -> (store: BodyStore, file: Int32) {
        var isTold = false
        let store = BodyStore(FileCalls()) { (_) throws(SystemError) in
            if isTold { return }
            isTold = true
            throw SystemError(errno: ENOSPC, call: "close")
        }
        let file = try temporaryFile(Array("before".utf8))
        lseek(file, 0, SEEK_END)
        let copy = dup(file)
        try #require(copy >= 0)
        store.useDescriptor(file)
        // More than is gathered.
        try [UInt8](repeating: 1, count: 100_000).withUnsafeBytes { try store.write($0) }
        return (store, copy)
    }

    @Test("what a file system says on closing is learnt by the worker, and what was lost is not kept", arguments: 0..<3)
    func fullOnClosing(index: Int) throws {
        let (store, file) = try storeOnFullNetwork()
        defer { close(file) }
        switch End.allCases[index] {
        case .finish:
            do throws(HopFailure) {
                _ = try store.finish()
                Issue.record("the body is complete")
            } catch {
                #expect(error.kind == .file && error.systemError == ENOSPC)
            }
        case .handOver:
            let (kept, passed) = store.handOver(without: 0)
            #expect(kept == 0 && passed == nil)
        case .abandon:
            store.abandon()
        }
        var info = stat()
        let result = fstat(file, &info)
        #expect(result == 0 && info.st_size == 6)
    }
}

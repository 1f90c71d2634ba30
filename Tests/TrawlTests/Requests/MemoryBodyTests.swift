import Glibc
import Testing

@testable import Trawl

@Suite("A request's body in a memory file")
struct MemoryBodyTests {
    @Test("one that is longer than files may be is an error, and no signal ends the program")
    func fileSizeLimit() async {
        await #expect(processExitsWith: .exitCode(0)) {
            let resource = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
            var limit = rlimit()
            getrlimit(resource, &limit)
            let most = limit.rlim_cur
            limit.rlim_cur = 1 << 20
            setrlimit(resource, &limit)
            var found = ""
            do {
                _ = try MemoryBody([UInt8](repeating: 1, count: 3 << 20))
            } catch {
                found = "\(error)"
            }
            limit.rlim_cur = most
            setrlimit(resource, &limit)
            #expect(found.contains("File too large"), "\(found)")
        }
    }
}

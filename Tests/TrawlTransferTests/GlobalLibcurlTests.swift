import Glibc
import Testing

@testable import TrawlTransfer

@Suite("Loading libcurl")
struct GlobalLibcurlTests {
    @Test("what the loader lacked for a moment may pass, and what is not there does not")
    func mayPass() {
        let words = "libcurl.so.4: cannot open shared object file"
        for number in [ENOMEM, EMFILE, ENFILE, EIO] {
            #expect(GlobalLibcurl.mayPass(words + ": " + String(cString: strerror(number))))
        }
        #expect(!GlobalLibcurl.mayPass(words + ": " + String(cString: strerror(ENOENT))))
        #expect(!GlobalLibcurl.mayPass("it lacks functions"))
    }

    @Test("where it is there nothing is wrong")
    func loaded() throws {
        try #require(GlobalLibcurl.isReady)
        #expect(GlobalLibcurl.loadProblem == nil)
    }
}

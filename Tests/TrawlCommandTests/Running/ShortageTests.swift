import Glibc
import Testing
import Trawl

@testable import TrawlCommand

@Suite("Failures that are no fault of server or request")
struct ShortageTests {
    @Test("too many open files, and no thread for a name")
    func shortages() {
        for number in [EMFILE, ENFILE] {
            for code in [FetchError.Code.cannotConnect, .file, .internalError] {
                #expect(FetchError(code, "", cause: .system(number)).isShortage)
            }
        }
        #expect(FetchError(.cannotConnect, "", cause: .system(EAGAIN)).isShortage)
        #expect(FetchError(.proxy, "", cause: .system(EAGAIN)).isShortage)
    }

    @Test("but not what merely has the same number, or another")
    func others() {
        // No process can be made.
        #expect(!FetchError(.engineDown, "", cause: .system(EAGAIN)).isShortage)
        #expect(!FetchError(.cannotConnect, "", cause: .system(ECONNREFUSED)).isShortage)
        #expect(!FetchError(.cannotConnect, "", cause: .curl(UInt32(EMFILE))).isShortage)
        #expect(!FetchError(.hostNotFound, "").isShortage)
    }
}

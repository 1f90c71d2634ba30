import Glibc
import Testing
import Trawl

@testable import TrawlCommand

@Suite("Failures that are no fault of server or request")
struct ShortageTests {
    @Test("too many open files, no memory for a socket, and no thread for a name")
    func shortages() {
        for number in [EMFILE, ENFILE] {
            for code in [FetchError.Code.cannotConnect, .file, .internalError] {
                #expect(FetchError(code, "", cause: .system(number)).isShortage)
            }
        }
        for number in [ENOBUFS, ENOMEM, EAGAIN] {
            #expect(FetchError(.cannotConnect, "", cause: .system(number)).isShortage)
            #expect(FetchError(.proxy, "", cause: .system(number)).isShortage)
        }
    }

    @Test("but not what merely has the same number, or another")
    func others() {
        // No process can be made.
        #expect(!FetchError(.engineDown, "", cause: .system(EAGAIN)).isShortage)
        // Neither is about a socket.
        #expect(!FetchError(.file, "", cause: .system(ENOMEM)).isShortage)
        #expect(!FetchError(.internalError, "", cause: .system(ENOMEM)).isShortage)
        #expect(!FetchError(.cannotConnect, "", cause: .system(ECONNREFUSED)).isShortage)
        #expect(!FetchError(.cannotConnect, "", cause: .curl(UInt32(EMFILE))).isShortage)
        #expect(!FetchError(.hostNotFound, "").isShortage)
    }
}

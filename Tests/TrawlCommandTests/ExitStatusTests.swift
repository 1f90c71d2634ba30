import Testing
import Trawl

@testable import TrawlCommand

@Suite("Exit statuses")
struct ExitStatusTests {
    @Test(
        "a failed fetch ends with curl's code",
        arguments: [
            (FetchError.Code.invalidURL, 3), (.unsupportedURL, 1), (.hostNotFound, 6), (.cannotConnect, 7),
            (.timeout, 28), (.tls, 35), (.tlsUntrusted, 60), (.tlsHostMismatch, 60), (.tooManyRedirects, 47),
            (.truncated, 18), (.connectionLost, 56), (.decoding, 61), (.tooLarge, 63), (.protocolViolation, 8),
            (.file, 23), (.engineDown, 69), (.workerLost, 70),
        ] as [(FetchError.Code, Int32)])
    func codes(code: FetchError.Code, status: Int32) {
        #expect(ExitStatus.curlCode(for: FetchError(code, "")) == status)
    }

    @Test("libcurl's own code counts where it says more")
    func refined() {
        #expect(ExitStatus.curlCode(for: FetchError(.connectionLost, "", cause: .curl(52))) == 52)
        #expect(ExitStatus.curlCode(for: FetchError(.tls, "", cause: .curl(58))) == 58)
        #expect(ExitStatus.curlCode(for: FetchError(.protocolViolation, "", cause: .curl(1))) == 1)
        #expect(ExitStatus.curlCode(for: FetchError(.redirectRefused, "")) == 1)
        #expect(ExitStatus.curlCode(for: FetchError(.redirectRefused, "", cause: .curl(3))) == 3)
    }

    @Test(
        "97 is for SOCKS alone; a proxy that answers CONNECT with nonsense ends with 56",
        arguments: [(97, 97), (5, 5), (7, 7), (1, 56), (8, 56), (56, 56), (77, 77)] as [(UInt32, Int32)])
    func proxies(cause: UInt32, status: Int32) {
        #expect(ExitStatus.curlCode(for: FetchError(.proxy, "", cause: .curl(cause))) == status)
        #expect(ExitStatus.curlCode(for: FetchError(.proxy, "")) == 56)
        #expect(ExitStatus.curlCode(for: FetchError(.proxy, "", cause: .system(111))) == 7)
    }

    @Test("libcurl's code for a refusal of ours does not hide the kind of failure")
    func notRefined() {
        #expect(ExitStatus.curlCode(for: FetchError(.tooLarge, "", cause: .curl(23))) == 63)
        #expect(ExitStatus.curlCode(for: FetchError(.timeout, "", cause: .curl(42))) == 28)
        #expect(ExitStatus.curlCode(for: FetchError(.connectionLost, "", cause: .curl(23))) == 56)
    }

    @Test("a run of several URLs tells the worst that matters to its caller")
    func tally() {
        var tally = RunTally()
        #expect(tally.status == 0)
        tally.failed = 1
        #expect(tally.status == 1)
        tally.outputIsBroken = true
        #expect(tally.status == 74)
        tally.engineIsDown = true
        #expect(tally.status == 69)
        tally.wasStopped = true
        #expect(tally.status == 75)
        tally.outputIsClosed = true
        #expect(tally.status == 0)
    }

    @Test("a run says that it was stopped when something is left, and has the exit status of that")
    func summary() {
        var tally = RunTally()
        tally.succeeded = 3
        #expect(!tally.summary(after: .seconds(1), isCaching: false).contains("stopped"))
        tally.wasStopped = true
        #expect(tally.summary(after: .seconds(1), isCaching: false).hasSuffix(", stopped"))
        #expect(tally.status == ExitStatus.stopped)
    }

    @Test("who closes what -w prints breaks a run off, and its failures count all the same")
    func printsClosed() {
        var tally = RunTally()
        tally.printsAreClosed = true
        #expect(tally.isBrokenOff && tally.status == 0)
        tally.failed = 1
        #expect(tally.status == 1)
    }
}

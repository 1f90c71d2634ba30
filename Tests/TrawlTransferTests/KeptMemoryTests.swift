import CTrawlCurl
import Foundation
import Glibc
import Testing
import TrawlTransfer

/// Whether a thread gets lists: not where memory is being checked.
private let mayKeep: Bool = {
    defer { ccurl_memory_release() }
    return ccurl_memory_keep() == 1
}()

/// Lists belong to a thread, and a test that never suspends stays on one.
@Suite("Memory of libcurl's that is kept", .enabled(if: mayKeep, "memory is being checked"))
struct KeptMemoryTests {
    /// What another thread has to say.
    ///
    /// `@unchecked Sendable` holds because the thread writes it before it signals, and who waits for that reads it after.
    private final class Answer: @unchecked Sendable {
        var kept: Int?
    }

    /// Runs a test on a thread that keeps what it frees.
    private func keeping(_ test: () throws -> Void) rethrows {
        #expect(ccurl_memory_keep() == 1)
        defer {
            ccurl_memory_release()
            #expect(ccurl_memory_kept() == 0)
        }
        #expect(ccurl_memory_kept() == 0)
        try test()
    }

    /// malloc gives more than it was asked for where the rest of a chunk would be too short for another, so a block may
    /// be kept as a longer one; what is kept tells as how long.
    @Test("a freed block is the next one of its size", arguments: [0, 1, 24, 25, 40, 1000, 1048, 1049, 16385, 524_289])
    func again(size: Int) {
        keeping {
            let freed = ccurl_memory_malloc(size)
            ccurl_memory_free(freed)
            let length = ccurl_memory_kept()
            #expect(length >= size)
            let block = ccurl_memory_malloc(length)
            #expect(block == freed)
            #expect(ccurl_memory_kept() == 0)
            ccurl_memory_free(block)
        }
    }

    @Test("a block has room for what it was asked for, of every size that is kept")
    func room() throws {
        try keeping {
            for size in Array(0...5000) + [8191, 8192, 8193, 65_561, 98_329, 262_145, 524_312] {
                // Twice: from malloc, and out of a list.
                for _ in 0..<2 {
                    let block = try #require(ccurl_memory_malloc(size))
                    memset(block, 0xA5, size)
                    let others = ccurl_memory_kept()
                    ccurl_memory_free(block)
                    guard ccurl_memory_kept() - others >= size else {
                        Issue.record("\(ccurl_memory_kept() - others) for \(size) bytes")
                        return
                    }
                }
            }
        }
    }

    @Test("a longer block is malloc's alone")
    func long() {
        keeping {
            ccurl_memory_free(ccurl_memory_malloc(4 << 20))
            #expect(ccurl_memory_kept() == 0)
        }
    }

    @Test(
        "what malloc gave may be freed here, and is lent as no more than it is",
        arguments: [1, 30, 1100, 1290, 20_000])
    func foreign(size: Int) throws {
        try keeping {
            ccurl_memory_free(malloc(size))
            let kept = ccurl_memory_kept()
            #expect(kept >= min(size, 24))
            let block = try #require(ccurl_memory_malloc(kept))
            #expect(ccurl_memory_kept() == 0)
            // And the other way round.
            free(block)
        }
    }

    @Test("zeros are zeros in a block that was used")
    func zeros() throws {
        try keeping {
            let used = try #require(ccurl_memory_malloc(300))
            memset(used, 0xFF, 300)
            ccurl_memory_free(used)
            let length = ccurl_memory_kept()
            let block = try #require(ccurl_memory_calloc(length / 8, 8))
            #expect(block == used)
            #expect(UnsafeRawBufferPointer(start: block, count: 300).allSatisfy { $0 == 0 })
            ccurl_memory_free(block)
            #expect(ccurl_memory_calloc(.max, 2) == nil)
        }
    }

    @Test("a block that gets longer keeps its bytes, by whatever way it grows")
    func longer() throws {
        try keeping {
            var block = try #require(ccurl_memory_realloc(nil, 10))
            memset(block, 7, 10)
            for size in [20, 24, 25, 1048, 1049, 600_000, 700_000, 100] {
                block = try #require(ccurl_memory_realloc(block, size))
                #expect(UnsafeRawBufferPointer(start: block, count: 10).allSatisfy { $0 == 7 })
            }
            ccurl_memory_free(block)
        }
    }

    @Test("a text is copied with its end")
    func text() throws {
        try keeping {
            let copy = try #require(ccurl_memory_strdup("trawl"))
            #expect(String(cString: copy) == "trawl")
            ccurl_memory_free(copy)
        }
    }

    @Test("no more than 8 MiB is kept: a long block beyond that goes alone, a short one takes all along")
    func most() {
        keeping {
            let (long, short) = (512 << 10, 32 << 10)
            let longBlocks = (0..<16).map { _ in ccurl_memory_malloc(long) }
            let shortBlocks = (0..<32).map { _ in ccurl_memory_malloc(short) }
            for block in longBlocks { ccurl_memory_free(block) }
            #expect(ccurl_memory_kept() >= 15 * long && ccurl_memory_kept() <= 8 << 20)
            var before = 0
            for (index, block) in shortBlocks.enumerated() {
                before = ccurl_memory_kept()
                ccurl_memory_free(block)
                guard ccurl_memory_kept() == 0 else { continue }
                for block in shortBlocks[(index + 1)...] { free(block) }
                break
            }
            #expect(ccurl_memory_kept() == 0)
            #expect(before > (8 << 20) - 2 * short)
        }
    }

    @Test("libcurl takes its memory from here in the process of a worker")
    func libcurl() async {
        await #expect(processExitsWith: .exitCode(0)) {
            guard GlobalLibcurl.setUpAlone(), let url = curl_url() else { exit(2) }
            _ = curl_url_set(url, CURLUPART_URL, "http://example.org/a?b", 0)
            curl_url_cleanup(url)
            exit(ccurl_memory_kept() > 0 ? 0 : 1)
        }
    }

    @Test("other threads keep nothing, and may free what this one has")
    func others() {
        keeping {
            let block = UInt(bitPattern: ccurl_memory_malloc(100))
            let (answer, done) = (Answer(), DispatchSemaphore(value: 0))
            Thread.detachNewThread {
                ccurl_memory_free(UnsafeMutableRawPointer(bitPattern: block))
                answer.kept = Int(ccurl_memory_kept())
                done.signal()
            }
            done.wait()
            #expect(answer.kept == 0)
            #expect(ccurl_memory_kept() == 0)
        }
    }
}

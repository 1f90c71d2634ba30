import Foundation
import Glibc
import Testing

/// The executables that were built beside the running tests.
enum BuiltProducts {
    /// What is missing and where it was looked for.
    struct Missing: Error, CustomStringConvertible {
        let description: String
    }

    /// The directory of the running test executable.
    static func directory() throws -> String {
        guard let own = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") else {
            throw Missing(description: "/proc/self/exe cannot be read")
        }
        return (own as NSString).deletingLastPathComponent
    }

    /// The server for these tests.
    static func loopbackOrigin() throws -> String { try product("LoopbackOrigin") }

    /// The worker that coordinators start.
    static func trawlWorker() throws -> String { try product("trawl-worker") }

    /// The command.
    static func trawl() throws -> String { try product("trawl") }

    /// An executable product of this package, by name.
    static func product(_ name: String) throws -> String {
        TestProcess.settled
        let path = try directory() + "/" + name
        guard access(path, X_OK) == 0 else {
            throw Missing(description: "\(path) is missing: build the product \(name), as `make test` does")
        }
        return path
    }

    /// Copies an executable product, to be started there. A process of its own does it: one that this process is just
    /// starting would have the copy open for writing too, and what somebody writes cannot be executed (`ETXTBSY`).
    static func copy(_ name: String, to place: String) throws {
        let copying = Process()
        copying.executableURL = URL(fileURLWithPath: "/bin/cp")
        copying.arguments = [try product(name), place]
        try copying.runToEnd()
        guard copying.terminationStatus == 0 else { throw Missing(description: "\(place) cannot be made") }
    }
}

/// What this process and its children inherit, made the same for every run of the tests.
enum TestProcess {
    /// Sets it up, once.
    static let settled: Void = {
        // Ignored signals stay ignored in children, and a shell ignores SIGINT and SIGQUIT for what it runs in the
        // background, `nohup` SIGHUP. The product respects that; the tests are about programs somebody can interrupt.
        for number in [SIGINT, SIGQUIT, SIGHUP, SIGTERM] { _ = signal(number, SIG_DFL) }
        // Without a home there is no default store, so no test finds what another one stored, nor what the user did;
        // and by the empty one this is meant, so that nobody says so.
        unsetenv("HOME")
        setenv("XDG_CACHE_HOME", "", 1)
        // Nor has the user a say in what is tested and in which words it speaks; and what the tests run does not show
        // in the user's own `trawl status`.
        for name in [
            "TRAWL_WORKERS", "TRAWL_WORKER_EXECUTABLE", "TRAWL_USER_AGENT", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR",
            "SSL_CERT_FILE", "SSL_CERT_DIR", "KRB5CCNAME",
        ] {
            unsetenv(name)
        }
        setenv("LC_ALL", "C.UTF-8", 1)
        // The servers of the tests are here, and no proxy is between.
        for name in ["http", "https", "all", "no", "auto"] {
            for variable in [name + "_proxy", (name + "_proxy").uppercased()] { unsetenv(variable) }
        }
    }()
}

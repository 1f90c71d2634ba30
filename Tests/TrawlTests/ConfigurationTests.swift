import Foundation
import Glibc
import TestSupport
import Testing
import TrawlPlatform

@testable import Trawl

@Suite("What makes no sense in a configuration")
struct ConfigurationProblemTests {
    @Test("times are not negative; zero is one")
    func times() {
        let times: [(name: String, path: WritableKeyPath<Configuration, Duration>)] = [
            ("unknown name lifetime", \.unknownNameLifetime),
            ("suspended connection lifetime", \.suspendedConnectionLifetime), ("decision timeout", \.decisionTimeout),
            ("shutdown grace", \.shutdownGrace),
        ]
        for (name, path) in times {
            var configuration = Configuration()
            configuration[keyPath: path] = .zero
            #expect(configuration.problem() == nil)
            configuration[keyPath: path] = .nanoseconds(-1)
            #expect(configuration.problem() == "the \(name) must not be negative")
        }
        var configuration = Configuration()
        configuration.network.probe = NetworkMonitor.Probe(host: "192.0.2.1", port: 80)
        #expect(configuration.problem() == nil)
        configuration.network.probe?.timeout = .seconds(-1)
        #expect(configuration.problem() == "the timeout of the network's probe must not be negative")
    }

    @Test("an empty path is none, and neither is one with a NUL", arguments: ["", "a\0b"])
    func paths(path: String) {
        let adjusts: [(inout Configuration) -> Void] = [
            { $0.store = .directory(path) }, { $0.hstsFile = path }, { $0.metricsFile = MetricsFile(path) },
        ]
        for adjust in adjusts {
            var configuration = Configuration()
            adjust(&configuration)
            #expect(configuration.problem()?.hasSuffix("has no usable path") == true)
        }
    }
}

@Suite("What a configuration and a request have unless told otherwise")
struct DefaultsTests {
    /// The second column of docs/configuration.md, by property.
    private static func documented() throws -> [String: String] {
        let text = try String(contentsOfFile: Checkout.path("docs/configuration.md"), encoding: .utf8)
        var defaults: [String: String] = [:]
        for line in text.split(separator: "\n") {
            guard let row = line.prefixMatch(of: /\| `([\w.]+)` \| ([^|]+) \|/) else { continue }
            defaults[String(row.1)] = String(row.2)
        }
        return defaults
    }

    @Test("is what docs/configuration.md says")
    func configuration() throws {
        let (usual, documented) = (Configuration(), try Self.documented())
        let seconds: [(String, Duration)] = [
            ("decisionTimeout", usual.decisionTimeout), ("shutdownGrace", usual.shutdownGrace),
            ("suspendedConnectionLifetime", usual.suspendedConnectionLifetime),
            ("politeness.longestRetryAfter", usual.politeness.longestRetryAfter),
            ("unknownNameLifetime", usual.unknownNameLifetime),
        ]
        for (name, value) in seconds { #expect(documented[name] == "\(value.components.seconds) s", "\(name)") }
        #expect(documented["transfersPerWorker"] == "\(usual.transfersPerWorker)")
        #expect(documented["connectionsPerHost"] == "\(usual.connectionsPerHost)")
        #expect(documented["cache.byteBudget"] == "\(usual.cache.byteBudget >> 30) GiB")
    }

    @Test("is a worker for each processor that may be used, 64 at most")
    func workers() async {
        #expect(Configuration().workers == min(64, Processors.usable))
        #expect(Configuration().workers <= max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))))
        // In a process of its own, which is bound to one before anybody asks.
        await #expect(processExitsWith: .success) {
            // Hidden from Swift behind a macro.
            typealias Affinity = @convention(c) (pid_t, Int, UnsafeMutableRawPointer) -> Int32
            let get = unsafeBitCast(try #require(dlsym(nil, "sched_getaffinity")), to: Affinity.self)
            let set = unsafeBitCast(try #require(dlsym(nil, "sched_setaffinity")), to: Affinity.self)
            var processors = [UInt8](repeating: 0, count: 1024)
            #expect(get(0, processors.count, &processors) == 0)
            let first = try #require(processors.firstIndex { $0 != 0 })
            let bit = processors[first] & ~(processors[first] - 1)
            processors = [UInt8](repeating: 0, count: processors.count)
            processors[first] = bit
            #expect(set(0, processors.count, &processors) == 0)
            #expect(Configuration().workers == 1)
        }
    }

    @Test("is 30 s to connect, 60 s without a byte, 60 s for an idle connection, and TLS 1.2")
    func request() {
        let usual = RequestOptions()
        #expect(usual.timeLimits.connect == .seconds(30) && usual.timeLimits.inactivity == .seconds(60))
        #expect(usual.timeLimits.resource == .seconds(7 * 24 * 3600) && usual.timeLimits.exchange == .zero)
        #expect(usual.transport.idleLifetime == .seconds(60) && usual.transport.receiveBuffer == nil)
        #expect(usual.tls.minimum == .tls1_2 && usual.redirects.limit == 20)
    }
}

/// Each in a process of its own, whose environment it may change.
@Suite("The configuration that an environment asks for")
struct ConfigurationTests {
    private static let names = [
        "TRAWL_WORKERS", "TRAWL_WORKER_EXECUTABLE", "TRAWL_USER_AGENT", "LC_ALL", "LC_MESSAGES", "LANG", "http_proxy",
        "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "auto_proxy", "AUTO_PROXY", "no_proxy", "NO_PROXY",
    ]

    /// What comes of an environment that says no more than this.
    private static func configuration(_ environment: [String: String]) throws(FetchError) -> Configuration {
        for name in names { unsetenv(name) }
        for (name, value) in environment { setenv(name, value, 1) }
        return try Configuration.fromEnvironment()
    }

    @Test("without any of its variables it is the default")
    func nothing() async {
        await #expect(processExitsWith: .success) {
            let usual = Configuration()
            for value in [nil, ""] {
                let environment = value.map { value in Self.names.map { ($0, value) } } ?? []
                let found = try Self.configuration(Dictionary(uniqueKeysWithValues: environment))
                #expect(found.workers == usual.workers)
                #expect(found.workerExecutable == nil && found.userAgent == nil)
                #expect(found.locale == "" && found.proxy == usual.proxy)
            }
        }
    }

    @Test("variables say how many workers, which program they are, and what user agent")
    func variables() async {
        await #expect(processExitsWith: .success) {
            let found = try Self.configuration([
                "TRAWL_WORKERS": "7", "TRAWL_WORKER_EXECUTABLE": "/opt/worker", "TRAWL_USER_AGENT": "me/1",
            ])
            #expect(found.workers == 7 && found.problem() == nil)
            #expect(found.workerExecutable == "/opt/worker" && found.userAgent == "me/1")
        }
    }

    @Test("a number of workers that is none from 0 to 64 is an error that names the variable")
    func workers() async {
        await #expect(processExitsWith: .success) {
            for text in ["many", "1.5", "3 ", "0x4", "-1", "65", "99999999999999999999", "\u{1B}[2J"] {
                let error = #expect(throws: FetchError.self) { try Self.configuration(["TRAWL_WORKERS": text]) }
                #expect(error?.code == .badRequest)
                #expect(error?.detail.contains("TRAWL_WORKERS is not a number") == true)
                #expect(error?.detail.contains("\u{1B}") == false)
            }
        }
    }

    @Test("the language is that of LC_ALL, else LC_MESSAGES, else LANG, without charset and modifier")
    func language() async {
        await #expect(processExitsWith: .success) {
            let all = ["LC_ALL": "de_DE.UTF-8", "LC_MESSAGES": "fr_FR@euro", "LANG": "C"]
            let named = try [all, all.merging(["LC_ALL": ""]) { $1 }, ["LANG": "C.UTF-8"]].map { variables in
                try Self.configuration(variables).locale
            }
            #expect(named == ["de_DE", "fr_FR", "C"])
        }
    }
}

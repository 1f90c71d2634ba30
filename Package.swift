// swift-tools-version: 6.2
import PackageDescription

// Layers are explained in docs/architecture.md; Tests/ArchitectureTests checks the import rules.
let common: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]
let pure = common
let effects = common

let package = Package(
    name: "trawl",
    products: [
        .library(name: "Trawl", targets: ["Trawl"]),
        .library(name: "TrawlFoundation", targets: ["TrawlFoundation"]),
        .library(name: "TrawlMetrics", targets: ["TrawlMetrics"]),
        .executable(name: "trawl", targets: ["TrawlCommand"]),
        .executable(name: "trawl-worker", targets: ["TrawlWorkerMain"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    ],
    targets: [
        // C: what Swift cannot say, and the libraries beneath.
        .target(name: "CTrawlPlatform"),
        .target(name: "CTrawlZlib", linkerSettings: [.linkedLibrary("z")]),
        .target(name: "CTrawlBrotli", linkerSettings: [.linkedLibrary("brotlidec")]),
        .target(name: "CTrawlCurl"),
        .target(name: "CTrawlPSL"),
        .target(name: "CTrawlLMDB", linkerSettings: [.linkedLibrary("lmdb")]),
        .target(name: "CTrawlBlob"),
        .target(name: "CTrawlCrypto"),
        .target(name: "CTrawlPAC"),

        // Pure: decisions as values. No Glibc, no Foundation, no C module, no clock.
        .target(name: "TrawlHTTP", swiftSettings: pure),
        .target(name: "TrawlProtocol", dependencies: ["TrawlHTTP"], swiftSettings: pure),
        .target(name: "TrawlFrontier", dependencies: ["TrawlHTTP"], swiftSettings: pure),
        .target(name: "TrawlSupervision", dependencies: ["TrawlHTTP"], swiftSettings: pure),
        .target(name: "TrawlCache", dependencies: ["TrawlHTTP"], swiftSettings: pure),
        .target(name: "TrawlSession", dependencies: ["TrawlHTTP"], swiftSettings: pure),
        .target(name: "TrawlJSON", swiftSettings: pure),
        .target(name: "TrawlWatch", dependencies: ["TrawlHTTP", "TrawlJSON"], swiftSettings: pure),

        // Effects: thin wrappers that carry decisions out.
        .target(name: "TrawlPlatform", dependencies: ["TrawlHTTP", "CTrawlPlatform"], swiftSettings: effects),
        .target(name: "TrawlPAC", dependencies: ["TrawlPlatform", "CTrawlPAC"], swiftSettings: effects),
        .target(
            name: "TrawlCoding", dependencies: ["TrawlHTTP", "CTrawlZlib", "CTrawlBrotli"], swiftSettings: effects),
        .target(name: "TrawlURL", dependencies: ["TrawlHTTP", "CTrawlCurl", "CTrawlPSL"], swiftSettings: effects),
        .target(name: "TrawlCrypto", dependencies: ["CTrawlCrypto"], swiftSettings: effects),
        .target(
            name: "TrawlStore",
            dependencies: ["TrawlHTTP", "TrawlCache", "TrawlSession", "TrawlPlatform", "CTrawlLMDB", "CTrawlBlob"],
            swiftSettings: effects),
        .target(
            name: "TrawlTransfer",
            dependencies: ["TrawlHTTP", "TrawlProtocol", "TrawlCoding", "TrawlPlatform", "CTrawlCurl"],
            swiftSettings: effects),

        // The two processes.
        .target(
            name: "TrawlWorker",
            dependencies: [
                "TrawlHTTP", "TrawlProtocol", "TrawlCache", "TrawlSession", "TrawlCoding", "TrawlPlatform",
                "TrawlStore",
                "TrawlTransfer", "TrawlURL",
            ],
            swiftSettings: effects),
        .target(
            name: "Trawl",
            dependencies: [
                "TrawlHTTP", "TrawlProtocol", "TrawlFrontier", "TrawlSupervision", "TrawlCache", "TrawlSession",
                "TrawlWatch", "TrawlPlatform", "TrawlURL", "TrawlCoding", "TrawlStore", "TrawlCrypto", "TrawlPAC",
                "TrawlWorker",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: effects),
        // For programs that use Foundation anyway; the library itself does without.
        .target(name: "TrawlFoundation", dependencies: ["Trawl"], swiftSettings: effects),
        // For programs that have a metrics system; the library itself does without.
        .target(
            name: "TrawlMetrics",
            dependencies: ["Trawl", "TrawlWatch", .product(name: "Metrics", package: "swift-metrics")],
            swiftSettings: effects),
        .executableTarget(
            name: "TrawlCommand",
            dependencies: [
                "Trawl", "TrawlHTTP", "TrawlCache", "TrawlSession", "TrawlJSON", "TrawlCoding", "TrawlPlatform",
                "TrawlProtocol", "TrawlWatch",
                "TrawlStore", "TrawlURL", "TrawlPAC", "TrawlWorker", "TrawlCrypto",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: effects),
        .executableTarget(name: "TrawlWorkerMain", dependencies: ["TrawlWorker", "TrawlPAC"], swiftSettings: effects),

        // For tests and benchmarks: what tests share, a server and a worker that misbehave on purpose, a host under load.
        .target(name: "TestSupport", path: "Tests/TestSupport", swiftSettings: common),
        .executableTarget(
            name: "LoopbackOrigin", path: "Tests/LoopbackOrigin", exclude: ["README.md"], swiftSettings: common),
        .executableTarget(
            name: "FaultyWorker", dependencies: ["TestSupport", "TrawlHTTP", "TrawlProtocol", "TrawlPlatform"],
            path: "Tests/FaultyWorker", exclude: ["README.md"], swiftSettings: common),
        .executableTarget(
            name: "StoreHammer", dependencies: ["TestSupport", "TrawlStore", "TrawlPlatform", "CTrawlLMDB"],
            path: "Tests/StoreHammer",
            swiftSettings: common),
        .executableTarget(
            name: "HostProgram", dependencies: ["Trawl"], path: "Tests/HostProgram", swiftSettings: common),
        .executableTarget(
            name: "LibraryLoad", dependencies: ["Trawl", "TrawlFrontier", "TrawlHTTP"],
            path: "Tests/Benchmarks/LibraryLoad", swiftSettings: common),

        .testTarget(name: "ArchitectureTests", swiftSettings: common),
        .testTarget(name: "TrawlHTTPTests", dependencies: ["TestSupport", "TrawlHTTP"], swiftSettings: common),
        .testTarget(
            name: "TrawlProtocolTests", dependencies: ["TestSupport", "TrawlProtocol", "TrawlHTTP"],
            swiftSettings: common),
        .testTarget(
            name: "TrawlFrontierTests", dependencies: ["TestSupport", "TrawlFrontier", "TrawlHTTP"],
            swiftSettings: common),
        .testTarget(
            name: "TrawlSupervisionTests", dependencies: ["TestSupport", "TrawlSupervision", "TrawlHTTP"],
            swiftSettings: common),
        .testTarget(
            name: "TrawlCacheTests", dependencies: ["TestSupport", "TrawlCache", "TrawlHTTP"], swiftSettings: common),
        .testTarget(
            name: "TrawlSessionTests", dependencies: ["TestSupport", "TrawlSession", "TrawlHTTP"], swiftSettings: common
        ),
        .testTarget(
            name: "TrawlWatchTests", dependencies: ["TestSupport", "TrawlWatch", "TrawlHTTP", "TrawlJSON"],
            swiftSettings: common),
        .testTarget(name: "TrawlJSONTests", dependencies: ["TestSupport", "TrawlJSON"], swiftSettings: common),
        .testTarget(
            name: "TrawlPlatformTests", dependencies: ["TestSupport", "TrawlPlatform", "TrawlHTTP", "CTrawlPlatform"],
            swiftSettings: common),
        .testTarget(name: "TrawlPACTests", dependencies: ["TrawlPAC", "CTrawlPAC"], swiftSettings: common),
        .testTarget(
            name: "TrawlCodingTests", dependencies: ["TestSupport", "TrawlCoding", "TrawlHTTP", "CTrawlZlib"],
            swiftSettings: common),
        .testTarget(name: "TrawlCryptoTests", dependencies: ["TrawlCrypto"], swiftSettings: common),
        .testTarget(name: "TrawlURLTests", dependencies: ["TrawlURL", "TrawlHTTP"], swiftSettings: common),
        .testTarget(
            name: "TrawlStoreTests",
            dependencies: [
                "TestSupport", "TrawlStore", "TrawlCache", "TrawlSession", "TrawlProtocol", "TrawlPlatform",
                "TrawlHTTP", "CTrawlLMDB", "StoreHammer",
            ],
            swiftSettings: common),
        .testTarget(
            name: "TrawlTransferTests",
            dependencies: ["TestSupport", "TrawlTransfer", "TrawlHTTP", "TrawlProtocol", "CTrawlCurl"],
            swiftSettings: common
        ),
        .testTarget(
            name: "TrawlWorkerTests",
            dependencies: [
                "TrawlWorker", "TrawlHTTP", "TrawlProtocol", "TrawlPlatform", "TrawlStore", "TrawlTransfer",
                "LoopbackOrigin",
            ],
            swiftSettings: common),
        .testTarget(
            name: "TrawlTests",
            dependencies: [
                "TestSupport", "Trawl", "TrawlHTTP", "TrawlProtocol", "TrawlSession", "TrawlStore", "TrawlSupervision",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: common),
        .testTarget(
            name: "TrawlCommandTests",
            dependencies: [
                "TestSupport", "TrawlCommand", "Trawl", "TrawlHTTP", "TrawlJSON", "TrawlPlatform", "TrawlProtocol",
                "TrawlSession", "TrawlURL", "TrawlWatch",
                "CTrawlZlib",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: common),
        .testTarget(
            name: "IntegrationTests",
            dependencies: [
                "TestSupport", "Trawl", "TrawlFoundation", "TrawlMetrics", "TrawlPlatform", "TrawlWorkerMain",
                "TrawlCommand", "LoopbackOrigin", "FaultyWorker", "HostProgram", "StoreHammer",
                .product(name: "MetricsTestKit", package: "swift-metrics"),
            ],
            swiftSettings: common),
    ]
)

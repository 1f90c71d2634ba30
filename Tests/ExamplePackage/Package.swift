// swift-tools-version: 6.2
import PackageDescription

// A package that uses Trawl as any other would. The product `trawl-worker` is listed so that it is built beside the
// programs, where a coordinator looks for it. The source of FetchList is a link to docs/examples.
let package = Package(
    name: "example",
    dependencies: [.package(name: "trawl", path: "../..")],
    targets: [
        .executableTarget(
            name: "ExampleFetch",
            dependencies: [.product(name: "Trawl", package: "trawl"), .product(name: "trawl-worker", package: "trawl")]),
        .executableTarget(
            name: "FetchList",
            dependencies: [.product(name: "Trawl", package: "trawl"), .product(name: "trawl-worker", package: "trawl")]),
        .testTarget(name: "ExampleFetchTests", dependencies: ["ExampleFetch"]),
    ]
)

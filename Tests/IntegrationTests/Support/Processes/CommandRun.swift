import Foundation
import Testing

/// One run of the command, from its start to its end.
struct CommandRun {
    let status: Int32
    let wasSignalled: Bool
    let output: Data
    let errors: String

    /// - Parameters:
    ///   - arguments: Without the program's name.
    ///   - input: What standard input holds.
    ///   - environment: Variables beside those of the tests.
    init(_ arguments: [String], input: String? = nil, environment: [String: String] = [:]) throws {
        let directory = try TemporaryDirectory()
        let process = Process()
        process.executableURL = URL(fileURLWithPath: try BuiltProducts.trawl())
        process.arguments = arguments
        if !environment.isEmpty {
            process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        }
        process.standardInput = FileHandle.nullDevice
        if let input {
            try directory.put("input", Array(input.utf8))
            process.standardInput = FileHandle(forReadingAtPath: directory.file("input"))
        }
        for name in ["output", "errors"] { try directory.put(name, []) }
        process.standardOutput = FileHandle(forWritingAtPath: directory.file("output"))
        process.standardError = FileHandle(forWritingAtPath: directory.file("errors"))
        try process.run()
        process.waitUntilExit()
        status = process.terminationStatus
        wasSignalled = process.terminationReason == .uncaughtSignal
        output = Data(directory.content("output") ?? [])
        errors = String(decoding: directory.content("errors") ?? [], as: UTF8.self)
    }

    /// Standard output as text.
    var text: String { String(decoding: output, as: UTF8.self) }
}

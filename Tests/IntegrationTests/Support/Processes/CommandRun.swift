import Foundation
import Testing

/// One run of a program, from its start to its end.
struct CommandRun {
    let status: Int32
    let wasSignalled: Bool
    let output: Data
    let errors: String

    /// Runs the command.
    ///
    /// - Parameters:
    ///   - arguments: Without the program's name.
    ///   - input: What standard input holds.
    ///   - environment: Variables beside those of the tests.
    ///   - limit: A run that takes longer hangs, which is an issue.
    init(
        _ arguments: [String], input: String? = nil, environment: [String: String] = [:],
        within limit: Duration = .seconds(180), sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        try self.init(
            program: try BuiltProducts.trawl(), arguments, input: input, environment: environment, within: limit,
            sourceLocation: sourceLocation)
    }

    /// Runs a program.
    init(
        program: String, _ arguments: [String], input: String? = nil, environment: [String: String] = [:],
        within limit: Duration = .seconds(180), sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let directory = try TemporaryDirectory()
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
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
        try process.runToEnd(within: limit, sourceLocation: sourceLocation)
        status = process.terminationStatus
        wasSignalled = process.terminationReason == .uncaughtSignal
        output = Data(directory.content("output") ?? [])
        errors = String(decoding: directory.content("errors") ?? [], as: UTF8.self)
    }

    /// Standard output as text.
    var text: String { String(decoding: output, as: UTF8.self) }
}

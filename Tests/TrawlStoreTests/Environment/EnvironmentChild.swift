import Foundation
import Glibc
import Testing

/// A child process that runs a mode of `StoreHammer`; killed at the latest when this goes.
final class EnvironmentChild {
    private let process = Process()
    private let output = Pipe()

    init(_ arguments: [String]) throws {
        let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let path = (own as NSString).deletingLastPathComponent + "/StoreHammer"
        try #require(access(path, X_OK) == 0, "the product StoreHammer is missing")
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        process.environment = ["SWIFT_BACKTRACE": "enable=no"]
        process.standardOutput = output
        process.standardInput = FileHandle.nullDevice
        try process.run()
    }

    deinit {
        if process.isRunning { kill() }
    }

    var processID: Int32 { process.processIdentifier }
    var isRunning: Bool { process.isRunning }

    /// The next line it says; empty at its end.
    func line() -> String {
        var bytes: [UInt8] = []
        while let next = try? output.fileHandleForReading.read(upToCount: 1), let byte = next.first,
            byte != UInt8(ascii: "\n")
        {
            bytes.append(byte)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// All it says until its end.
    func rest() -> String {
        let bytes = (try? output.fileHandleForReading.readToEnd()) ?? Data()
        return String(decoding: bytes, as: UTF8.self)
    }

    func kill() {
        Glibc.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// Waits for its end; the status, or the signal as a negative number.
    func wait() -> Int32 {
        process.waitUntilExit()
        return process.terminationReason == .uncaughtSignal ? -process.terminationStatus : process.terminationStatus
    }
}

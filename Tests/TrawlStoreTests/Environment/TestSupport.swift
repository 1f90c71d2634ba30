import Foundation
import TestSupport
import Testing
import TrawlStore

/// A directory that is gone when the test is over.
final class ScratchDirectory {
    let path: String

    init() throws {
        var template = TemporaryName.template("store")
        let made = template.withUnsafeMutableBufferPointer { $0.baseAddress.flatMap { mkdtemp($0) } }
        path = try String(cString: #require(made))
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    var environment: String { path + "/environment" }
    var data: String { environment + "/data.mdb" }
}

/// The tables the tests use.
enum Sample {
    static let numbers = Table(0, "numbers", .integers)
    static let names = Table(1, "names", .bytes)

    static func settings(
        isRebuildable: Bool = true, format: UInt32 = 1, syncPolicy: EnvironmentSettings.SyncPolicy = .none
    ) -> EnvironmentSettings {
        EnvironmentSettings(
            tables: [numbers, names], format: format, isRebuildable: isRebuildable, syncPolicy: syncPolicy)
    }
}

extension Environment {
    func put(_ key: UInt64, _ value: [UInt8]) throws {
        // Other processes may write for long, on a busy machine.
        try write(patience: .seconds(60)) { transaction throws(StoreError) in
            try transaction.put(Sample.numbers, key, value)
        }
    }

    func get(_ key: UInt64) throws -> [UInt8]? {
        try read { snapshot throws(StoreError) in try snapshot.get(Sample.numbers, key).map { Array($0) } }
    }
}

extension Transaction {
    func put(_ table: Table, _ key: UInt64, _ value: [UInt8]) throws(StoreError) {
        let result = value.withUnsafeBytes { bytes -> Result<Void, StoreError> in
            do throws(StoreError) { return .success(try self.put(table, key, bytes)) } catch { return .failure(error) }
        }
        try result.get()
    }
}

/// Reads the rows that `StoreHammer` writes.
enum SampleValue {
    /// The version of a row; `nil` when it is not whole or another key's.
    static func version(_ value: UnsafeRawBufferPointer, _ key: UInt64) -> UInt64? {
        guard value.count >= 24, value.loadUnaligned(as: UInt64.self) == key else { return nil }
        var sum: UInt64 = 0xCBF2_9CE4_8422_2325
        var offset = 0
        while offset < value.count {
            var word: UInt64 = 0
            if offset + 8 <= value.count {
                if offset != 16 { word = value.loadUnaligned(fromByteOffset: offset, as: UInt64.self) }
            } else {
                for index in offset..<value.count { word = word << 8 | UInt64(value[index]) }
            }
            sum = (sum ^ word) &* 0x100_0000_01B3
            sum ^= sum >> 29
            offset += 8
        }
        guard value.loadUnaligned(fromByteOffset: 16, as: UInt64.self) == sum else { return nil }
        return value.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
    }
}

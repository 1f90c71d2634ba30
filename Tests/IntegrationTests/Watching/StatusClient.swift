import Foundation
import Glibc

/// A client of a status socket that is not ours.
final class StatusClient: Sendable {
    let socket: Int32

    /// - Parameter path: At most 107 bytes.
    init(_ path: String) throws {
        socket = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(107)) }
        let result = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0 else {
            close(socket)
            throw ChildProcess.Failure(description: "connect \(path): errno \(errno)")
        }
    }

    deinit { close(socket) }

    /// Sends a few bytes that nobody asked for.
    func send(_ bytes: [UInt8]) {
        _ = bytes.withUnsafeBytes { Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    }

    /// Reads to the end, which must come in time.
    func readAll(within milliseconds: Int32 = 10_000) -> [UInt8]? {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        var poller = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        while poll(&poller, 1, milliseconds) > 0 {
            let count = read(socket, &chunk, chunk.count)
            if count <= 0 { return bytes }
            bytes += chunk[..<count]
        }
        return nil
    }

    /// The report at a path, taken apart by a parser that is not ours.
    ///
    /// An engine that has no time for one within a second gives none, and is asked again.
    static func report(_ path: String) throws -> [String: Any] {
        let end = ContinuousClock.now + .seconds(30)
        var bytes = try StatusClient(path).readAll()
        while bytes?.isEmpty == true, ContinuousClock.now < end {
            usleep(50_000)
            bytes = try StatusClient(path).readAll()
        }
        guard let bytes, let report = try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any] else {
            throw ChildProcess.Failure(description: "no report at \(path)")
        }
        return report
    }
}

/// A member of a member of a report.
func number(_ report: [String: Any], _ group: String, _ name: String) -> Int? {
    (report[group] as? [String: Any])?[name] as? Int
}

/// Whether all of so many workers can take leases.
func areReady(_ report: [String: Any], count: Int) -> Bool {
    let workers = report["workers"] as? [[String: Any]] ?? []
    return workers.count == count && workers.allSatisfy { $0["state"] as? String == "ready" }
}

import Foundation
import Glibc

/// What `/proc` says about processes.
enum ProcessTree {
    /// The running children of a process, zombies left out.
    static func children(of pid: Int32 = getpid()) -> [Int32] {
        processes().filter { $0.parent == pid && $0.state != "Z" }.map(\.pid)
    }

    /// The running children of a process whose first argument is this.
    static func children(of pid: Int32 = getpid(), withArgument argument: String) -> [Int32] {
        children(of: pid).filter { child in
            text("/proc/\(child)/cmdline")?.split(separator: "\0").dropFirst().first == Substring(argument)
        }
    }

    /// How many processes there are of which one argument is this, whoever started them.
    static func count(withArgument argument: String) -> Int {
        processes().count { process in
            text("/proc/\(process.pid)/cmdline")?.split(separator: "\0").dropFirst().contains(Substring(argument))
                ?? false
        }
    }

    /// The children that ended and were not waited for.
    static func zombies(of pid: Int32 = getpid()) -> [Int32] {
        processes().filter { $0.parent == pid && $0.state == "Z" }.map(\.pid)
    }

    /// The state of a process as one letter: T is stopped; nil when there is none.
    static func state(of pid: Int32) -> Character? {
        guard let stat = text("/proc/\(pid)/stat"), let end = stat.lastIndex(of: ")") else { return nil }
        return stat[stat.index(after: end)...].dropFirst().first
    }

    /// A field of a process's status; nil when there is none.
    static func status(_ field: String, of pid: Int32) -> String? {
        text("/proc/\(pid)/status")?.split(separator: "\n").first { $0.hasPrefix(field + ":") }
            .map { $0.dropFirst(field.count + 1).trimmingCharacters(in: .whitespaces) }
    }

    /// Whether a signal has come to a process that has not taken it yet.
    static func isPending(_ signal: Int32, for pid: Int32) -> Bool {
        let mask = status("ShdPnd", of: pid).flatMap { UInt64($0, radix: 16) } ?? 0
        return mask >> UInt64(signal - 1) & 1 == 1
    }

    /// The soft and the hard limit of a process, by its name in `/proc/PID/limits`; empty when there is none.
    static func limits(_ name: String, of pid: Int32) -> [String] {
        let line = text("/proc/\(pid)/limits")?.split(separator: "\n").first { $0.hasPrefix(name + " ") }
        return (line?.dropFirst(name.count).split(separator: " ") ?? []).prefix(2).map(String.init)
    }

    /// How many descriptors a process has open, without the timers that the runtime's event loop makes when it needs
    /// them.
    static func descriptorCount(of pid: Int32 = getpid()) -> Int {
        descriptors(of: pid).count { !$0.contains("timerfd") }
    }

    /// What the open descriptors of a process are, for messages.
    static func descriptors(of pid: Int32 = getpid()) -> [String] {
        let directory = "/proc/\(pid)/fd"
        return ((try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []).sorted().map { name in
            name + " " + ((try? FileManager.default.destinationOfSymbolicLink(atPath: directory + "/" + name)) ?? "")
        }
    }

    /// The names of a process's threads.
    static func threads(of pid: Int32 = getpid()) -> [String] {
        let directory = "/proc/\(pid)/task"
        return ((try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []).compactMap { thread in
            text("\(directory)/\(thread)/comm")?.trimmingCharacters(in: .newlines)
        }
    }

    /// Bytes of anonymous memory a process holds, mapped files left out.
    static func anonymousMemory(of pid: Int32 = getpid()) -> Int {
        let line = text("/proc/\(pid)/status")?.split(separator: "\n").first { $0.hasPrefix("RssAnon:") }
        let kilobytes = line?.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first.flatMap { Int($0) }
        return (kilobytes ?? 0) << 10
    }

    /// Bytes of all memory a process has in use: anonymous, mapped and shared.
    static func residentMemory(of pid: Int32 = getpid()) -> Int {
        let fields = text("/proc/\(pid)/statm")?.split(separator: " ") ?? []
        return fields.count > 1 ? (Int(fields[1]) ?? 0) * sysconf(Int32(_SC_PAGESIZE)) : 0
    }

    /// Bytes of response bodies in memory files that a process has mapped, touched or not: they are charged all the
    /// same.
    static func mappedBodies(of pid: Int32) -> Int {
        let lines = text("/proc/\(pid)/maps", limit: 1 << 20)?.split(separator: "\n") ?? []
        return lines.filter { $0.contains("memfd:trawl-body") }.reduce(0) { sum, line in
            let ends = line.prefix { $0 != " " }.split(separator: "-").compactMap { Int($0, radix: 16) }
            return ends.count == 2 ? sum + ends[1] - ends[0] : sum
        }
    }

    /// Bytes of all bodies in memory files, those that workers of a process are receiving and those it has mapped: each
    /// once.
    static func bodies(of pid: Int32) -> Int {
        var sizes: [UInt64: Int] = [:]
        for worker in children(of: pid) {
            let directory = "/proc/\(worker)/fd"
            for name in (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? [] {
                let link = directory + "/" + name
                guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: link),
                    target.contains("memfd:trawl-body")
                else { continue }
                var status = stat()
                if stat(link, &status) == 0 { sizes[UInt64(status.st_ino)] = Int(status.st_size) }
            }
        }
        let lines = text("/proc/\(pid)/maps", limit: 4 << 20)?.split(separator: "\n") ?? []
        for line in lines where line.contains("memfd:trawl-body") {
            let fields = line.split(separator: " ", omittingEmptySubsequences: true)
            let ends = fields[0].split(separator: "-").compactMap { Int($0, radix: 16) }
            guard fields.count > 4, let inode = UInt64(fields[4]), ends.count == 2 else { continue }
            sizes[inode] = max(sizes[inode] ?? 0, ends[1] - ends[0])
        }
        return sizes.values.reduce(0, +)
    }

    /// The established connections from here to a port of 127.0.0.1, by their ports here: how many bytes wait to be
    /// read at this end of each.
    static func unreadBytes(ofConnectionsTo port: UInt16) -> [UInt16: Int] {
        guard let stream = fopen("/proc/net/tcp", "re") else { return [:] }
        defer { fclose(stream) }
        // Most lines are others' business, so they are not made into text.
        let mark = " 0100007F:" + String(format: "%04X", port) + " 01 "
        var line = [CChar](repeating: 0, count: 512)
        var result: [UInt16: Int] = [:]
        while fgets(&line, Int32(line.count), stream) != nil {
            guard let found = strstr(line, mark) else { continue }
            // In hexadecimal: the port here, before the mark; after the state bytes to be sent, a colon, bytes to be
            // read.
            let fields = String(cString: found - 4).split(separator: " ")
            guard fields.count > 3, let own = UInt16(fields[0], radix: 16),
                let unread = fields[3].split(separator: ":").last.flatMap({ Int($0, radix: 16) })
            else { continue }
            result[own] = unread
        }
        return result
    }

    /// The processes that have a file beneath a directory open, whoever started them.
    static func users(of directory: String) -> [Int32] {
        guard let path = realpath(directory, nil) else { return [] }
        defer { free(path) }
        let prefix = String(cString: path) + "/"
        return processes().map(\.pid).filter { pid in
            let place = "/proc/\(pid)/fd"
            return ((try? FileManager.default.contentsOfDirectory(atPath: place)) ?? []).contains { name in
                let file = try? FileManager.default.destinationOfSymbolicLink(atPath: place + "/" + name)
                return file?.hasPrefix(prefix) == true
            }
        }
    }

    private struct Entry {
        let pid: Int32
        let parent: Int32
        let state: Substring
    }

    private static func processes() -> [Entry] {
        ((try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []).compactMap { name in
            // The name of the program is in parentheses and may hold anything.
            guard let pid = Int32(name), let stat = text("/proc/\(pid)/stat"), let end = stat.lastIndex(of: ")") else {
                return nil
            }
            let fields = stat[stat.index(after: end)...].split(separator: " ")
            guard fields.count > 1, let parent = Int32(fields[1]) else { return nil }
            return Entry(pid: pid, parent: parent, state: fields[0])
        }
    }

    private static func text(_ path: String, limit: Int = 16 << 10) -> String? {
        // Files of /proc have no length, so they are read to their end.
        guard let stream = fopen(path, "re") else { return nil }
        defer { fclose(stream) }
        var bytes = [UInt8](repeating: 0, count: limit)
        let count = fread(&bytes, 1, bytes.count, stream)
        return String(decoding: bytes[..<count], as: UTF8.self)
    }
}

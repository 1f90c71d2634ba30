import Glibc

/// What this process and its children have used so far.
enum Measurements {
    static let own = __rusage_who_t(RUSAGE_SELF.rawValue)
    static let children = __rusage_who_t(RUSAGE_CHILDREN.rawValue)

    /// Seconds of a clock that only goes forward.
    static func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// User and system time in seconds.
    static func cpu(_ who: __rusage_who_t) -> Double {
        let usage = usage(who)
        return Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
            + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6
    }

    /// Peak resident memory in KiB.
    static func peak(_ who: __rusage_who_t) -> Int {
        usage(who).ru_maxrss
    }

    /// Bytes of memory this process has at present.
    static func resident() -> Int {
        guard let file = fopen("/proc/self/statm", "r") else { return 0 }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 128)
        guard fgets(&line, Int32(line.count), file) != nil else { return 0 }
        let words = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self).split(
            separator: " ")
        return (words.count > 1 ? Int(words[1]) ?? 0 : 0) * sysconf(Int32(_SC_PAGESIZE))
    }

    /// Pages of memory that were mapped as they were touched.
    static func faults() -> Int {
        let usage = usage(own)
        return usage.ru_minflt + usage.ru_majflt
    }

    /// Bytes that this process has written to files, sockets and event descriptors.
    static func written() -> Int {
        guard let file = fopen("/proc/self/io", "r") else { return 0 }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 128)
        while fgets(&line, Int32(line.count), file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            if text.hasPrefix("wchar: ") { return Int(text.dropFirst(7).prefix { $0 != "\n" }) ?? 0 }
        }
        return 0
    }

    private static func usage(_ who: __rusage_who_t) -> rusage {
        var usage = rusage()
        getrusage(who, &usage)
        return usage
    }
}

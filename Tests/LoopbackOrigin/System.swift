import Glibc

/// The monotonic clock.
enum Clock {
    static func nanoseconds() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    static func milliseconds() -> Int { Int(nanoseconds() / 1_000_000) }
}

/// Limits of the process.
enum Limits {
    /// Raises the soft limit on descriptors to the hard one.
    static func raiseDescriptors() {
        var limit = rlimit()
        guard getrlimit(.init(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        _ = setrlimit(.init(RLIMIT_NOFILE.rawValue), &limit)
    }
}

/// A detached thread with a stack of 256 KiB.
enum SmallThread {
    private final class Box {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// - Returns: False when the system has no thread to give.
    static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setstacksize(&attributes, 256 * 1024)
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        let box = Unmanaged.passRetained(Box(body))
        var thread = pthread_t()
        let failure = pthread_create(
            &thread, &attributes,
            { context in
                guard let context else { return nil }
                Unmanaged<Box>.fromOpaque(context).takeRetainedValue().body()
                return nil
            }, box.toOpaque())
        if failure != 0 { box.release() }
        return failure == 0
    }
}

/// HTTP dates, RFC 9110 §5.6.7.
enum HTTPDate {
    private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// IMF-fixdate of a Unix time.
    static func text(_ unixTime: Int) -> String {
        var seconds = time_t(unixTime)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        let day = days[((unixTime / 86_400) % 7 + 7) % 7]
        return "\(day), \(two(parts.tm_mday)) \(months[Int(parts.tm_mon)]) \(Int(parts.tm_year) + 1900) "
            + "\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec)) GMT"
    }

    /// Unix time of an IMF-fixdate; nil for every other form.
    static func parse(_ text: String) -> Int? {
        let parts = text.split(separator: " ")
        guard parts.count == 6, parts[5] == "GMT", let day = Int32(parts[1]), let year = Int32(parts[3]),
            let month = months.firstIndex(of: String(parts[2]))
        else { return nil }
        let clock = parts[4].split(separator: ":").compactMap { Int32($0) }
        guard clock.count == 3 else { return nil }
        var fields = tm()
        (fields.tm_year, fields.tm_mon, fields.tm_mday) = (year - 1900, Int32(month), day)
        (fields.tm_hour, fields.tm_min, fields.tm_sec) = (clock[0], clock[1], clock[2])
        return Int(timegm(&fields))
    }

    private static func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
}

/// What the system knows of a connection.
enum TCPState {
    /// Whether neither end has closed it.
    static func isEstablished(_ descriptor: Int32) -> Bool {
        // `struct tcp_info` begins with the state, of which 1 is TCP_ESTABLISHED; TCP_INFO is 11.
        var info = [UInt8](repeating: 0, count: 8)
        var length = socklen_t(info.count)
        return getsockopt(descriptor, Int32(IPPROTO_TCP), 11, &info, &length) == 0 && length > 0 && info[0] == 1
    }
}

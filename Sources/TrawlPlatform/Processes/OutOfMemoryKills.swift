import CPlatform
import Glibc

/// The kernel's count of processes it killed for lack of memory.
package enum OutOfMemoryKills {
    /// How many since boot, in the whole system; `nil` where the kernel does not say.
    ///
    /// A count that grew around a SIGKILL which nobody here sent names the likely cause.
    package static func count() -> UInt64? {
        guard let file = try? Descriptor.adopt(cplatform_openat(AT_FDCWD, "/proc/vmstat", O_RDONLY, 0), "openat") else {
            return nil
        }
        return withUnsafeTemporaryAllocation(byteCount: 1 << 16, alignment: 1) { buffer -> UInt64? in
            var filled = 0
            while filled < buffer.count {
                let result = cplatform_read(
                    file.rawValue, buffer.baseAddress.map { $0 + filled }, buffer.count - filled)
                if result == -Int64(EINTR) { continue }
                if result < 0 { return nil }
                if result == 0 { break }
                filled += Int(result)
            }
            return parse(UnsafeRawBufferPointer(rebasing: buffer[..<filled]))
        }
    }

    /// The value on the line `oom_kill N`.
    static func parse(_ text: UnsafeRawBufferPointer) -> UInt64? {
        for line in text.split(separator: UInt8(ascii: "\n")) where line.starts(with: "oom_kill ".utf8) {
            return UInt64(String(decoding: line.dropFirst(9), as: UTF8.self))
        }
        return nil
    }
}

import CTrawlPlatform

/// A system call that failed.
package struct SystemError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The error number, as in `ENOENT`.
    package let errno: Int32
    /// The name of the call, as in `openat`.
    package let call: String

    /// An error of the number and the call.
    package init(errno: Int32, call: String) {
        self.errno = errno
        self.call = call
    }

    /// The call and the system's text for the number.
    package var description: String {
        let text = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer -> String in
            guard let base = buffer.baseAddress else { return "" }
            cplatform_error_text(errno, base, buffer.count)
            return String(cString: base)
        }
        return "\(call): \(text)"
    }
}

/// Turns a wrapper's `-errno` into an error.
@inline(__always)
func check(_ result: Int32, _ call: StaticString) throws(SystemError) -> Int32 {
    if result < 0 { throw SystemError(errno: -result, call: call.description) }
    return result
}

/// Turns a wrapper's `-errno` into an error.
@inline(__always)
func check(_ result: Int64, _ call: StaticString) throws(SystemError) -> Int {
    if result < 0 { throw SystemError(errno: Int32(truncatingIfNeeded: -result), call: call.description) }
    return Int(result)
}

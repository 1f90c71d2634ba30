// TrawlPlatform: descriptors, processes, threads, polling, shared memory and output files, as thin owners of what the
// kernel gives. It takes no decisions about fetches, installs no signal handler, and waits for no child but its own.

import CTrawlPlatform
import Glibc

/// The one owner of an open file descriptor; closes it at the end of its life.
package struct Descriptor: ~Copyable, Sendable {
    /// The number, valid while this value lives.
    package let rawValue: Int32

    /// Takes over an open descriptor, which nobody else may close from now on.
    package init(adopting rawValue: Int32) {
        precondition(rawValue >= 0, "a descriptor is never negative")
        self.rawValue = rawValue
    }

    /// Takes over a descriptor this process was started with, and makes it close-on-exec.
    package static func inherited(_ rawValue: Int32) throws(SystemError) -> Descriptor {
        _ = try check(cplatform_set_close_on_exec(rawValue), "fcntl")
        return Descriptor(adopting: rawValue)
    }

    deinit {
        // Linux frees the number even when close reports EINTR or an I/O error: never a second try.
        _ = cplatform_close(rawValue)
    }

    /// Gives up ownership; the caller closes the number.
    package consuming func release() -> Int32 {
        let number = rawValue
        discard self
        return number
    }

    /// Closes now and reports what closing found, such as a write that failed late on a network file system.
    package consuming func close() throws(SystemError) {
        let number = release()
        let result = cplatform_close(number)
        if result < 0, result != -EINTR { throw SystemError(errno: -result, call: "close") }
    }

    /// Has the file system say what it would on closing: on a network that is when it finds no room for what was written.
    /// Many say so once, to the first who closes the file, in whichever process.
    package static func flush(_ number: Int32) throws(SystemError) {
        _ = try check(cplatform_flush(number), "close")
    }

    /// Another descriptor of the same open file, close-on-exec, with a number of at least `minimum`.
    package func duplicated(atLeast minimum: Int32) throws(SystemError) -> Descriptor {
        Descriptor(adopting: try check(cplatform_dup_above(rawValue, minimum), "fcntl"))
    }

    /// Writes all bytes, however many calls that takes.
    ///
    /// For files and blocking descriptors. On an error, ENOSPC among them, part of the bytes may have been written.
    package func writeAll(_ bytes: UnsafeRawBufferPointer) throws(SystemError) {
        var rest = bytes
        while !rest.isEmpty {
            let result = cplatform_write(rawValue, rest.baseAddress, rest.count)
            if result == -Int64(EINTR) { continue }
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(try check(result, "write")))
        }
    }

    /// Adopts the result of a wrapper that makes a descriptor.
    ///
    /// A host that closed its stdio would get our sockets and files as 0 to 2, and its next stray print would go into
    /// them; so those numbers are left at once.
    static func adopt(_ result: Int32, _ call: StaticString) throws(SystemError) -> Descriptor {
        let made = Descriptor(adopting: try check(result, call))
        return made.rawValue > 2 ? made : try made.duplicated(atLeast: 3)
    }
}

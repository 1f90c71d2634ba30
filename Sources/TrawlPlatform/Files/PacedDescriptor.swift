import CTrawlPlatform
import Glibc

/// A pipe or terminal to write to, which takes bytes at the pace of whoever reads there and must not be waited for.
///
/// A pipe with a name comes as a place (O_PATH): it can be opened when it has a reader, and only then. It belongs to
/// one thread at a time.
package struct PacedDescriptor: ~Copyable, Sendable {
    private var descriptor: Descriptor
    /// Whether it is open for writing, which a pipe is once it had a reader.
    package private(set) var isOpen: Bool

    /// Whether a descriptor is one of these: it names a place, or does not block.
    package static func isPaced(_ descriptor: borrowing Descriptor) -> Bool {
        cplatform_descriptor_mode(descriptor.rawValue) > 0
    }

    /// Takes over a descriptor that is one.
    package init(_ descriptor: consuming Descriptor) {
        isOpen = cplatform_descriptor_mode(descriptor.rawValue) != 1
        self.descriptor = descriptor
    }

    /// The place of the pipe at a path, for a process that will write there.
    /// - Throws: `EINVAL` when there is something else than a pipe.
    package static func pipe(at path: String) throws(SystemError) -> Descriptor {
        let place = try Descriptor.adopt(cplatform_open_place(path), "open")
        var info = stat()
        guard fstat(place.rawValue, &info) == 0 else { throw SystemError(errno: errno, call: "fstat") }
        guard info.st_mode & S_IFMT == S_IFIFO else { throw SystemError(errno: EINVAL, call: "open") }
        return place
    }

    /// The device at a path, open for writing: a terminal does not block, since its owner can stop it; any other
    /// device does.
    package static func device(at path: String) throws(SystemError) -> Descriptor {
        // O_NONBLOCK also in the opening: a serial line may have to wait for its other side.
        let opened = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
        guard opened >= 0 else { throw SystemError(errno: errno, call: "open") }
        let device = try Descriptor.adopt(opened, "open")
        if isatty(device.rawValue) == 0 { _ = try check(cplatform_set_blocking(device.rawValue), "fcntl") }
        return device
    }

    /// The number to wait with until there is room; nil when there is no reader to wait for yet.
    package var rawValue: Int32? { isOpen ? descriptor.rawValue : nil }

    /// Writes as many bytes as there is room for. None means opening alone.
    ///
    /// - Returns: How many were taken: 0 when there is no reader yet.
    /// - Throws: `EPIPE` when the reader has gone.
    package mutating func write(_ bytes: UnsafeRawBufferPointer) throws(SystemError) -> Int {
        if !isOpen {
            let opened = cplatform_open_placed(descriptor.rawValue)
            if opened == -ENXIO || opened == -EINTR { return 0 }
            descriptor = try Descriptor.adopt(opened, "open")
            isOpen = true
        }
        var taken = 0
        while taken < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[taken...])
            let result = cplatform_write(descriptor.rawValue, rest.baseAddress, rest.count)
            if result == -Int64(EINTR) { continue }
            if result == -Int64(EAGAIN) { break }
            taken += try check(result, "write")
        }
        return taken
    }
}

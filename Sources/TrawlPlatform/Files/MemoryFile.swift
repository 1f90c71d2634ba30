import CTrawlPlatform
import Glibc

/// A file in memory, written once, sealed, and passed on by descriptor.
package struct MemoryFile: ~Copyable, Sendable {
    /// The owner of the file; close-on-exec.
    package let descriptor: Descriptor

    /// An empty file.
    ///
    /// - Parameter name: Shown in /proc only.
    package init(name: StaticString) throws(SystemError) {
        descriptor = try Self.create(name)
    }

    /// A file that another process began and has not sealed.
    package init(goingOn descriptor: consuming Descriptor) {
        self.descriptor = descriptor
    }

    static func create(_ name: StaticString) throws(SystemError) -> Descriptor {
        let made = name.withUTF8Buffer { name in
            name.withMemoryRebound(to: CChar.self) { name -> Int32 in
                guard let name = name.baseAddress else { return -EINVAL }
                let made = cplatform_memfd_create(name, 1)
                // Before Linux 6.3 nobody can ask for a file without execute permission.
                return made == -EINVAL ? cplatform_memfd_create(name, 0) : made
            }
        }
        return try Descriptor.adopt(made, "memfd_create")
    }

    /// Appends.
    package func write(_ bytes: UnsafeRawBufferPointer) throws(SystemError) {
        try descriptor.writeAll(bytes)
    }

    /// The size in bytes.
    package func size() throws(SystemError) -> Int {
        try check(cplatform_regular_size(descriptor.rawValue), "fstat")
    }

    /// Makes size and content final, for everyone and for ever.
    package func seal() throws(SystemError) {
        _ = try check(cplatform_add_seals(descriptor.rawValue, Seals.full), "fcntl")
    }

    /// Whether a descriptor is a memory file whose size and content are final.
    package static func isFullySealed(_ fd: Int32) -> Bool {
        let seals = cplatform_get_seals(fd)
        return seals >= 0 && seals & Seals.full == Seals.full
    }
}

/// The sets of seals used here.
enum Seals {
    static let size = Int32(
        cplatform_seal_seal | cplatform_seal_shrink | cplatform_seal_grow)
    static let full = size | Int32(cplatform_seal_write)
}

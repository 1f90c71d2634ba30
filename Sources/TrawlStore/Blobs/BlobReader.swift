import CBlob
import Glibc
package import TrawlPlatform

/// Why a blob, or part of it, could not be read.
package enum BlobError: Error, Equatable, Sendable {
    /// It is shorter than its record says, its bytes are not those of its checksums, or the disk cannot read it.
    case damaged
    /// The destination of a copy failed, as when its disk is full.
    case destination(SystemError)
}

/// How a blob's bytes came to their destination.
package enum BlobCopyWay: Equatable, Sendable {
    /// Both files share the same blocks until one is changed.
    case clone
    /// Byte by byte.
    case bytes
}

/// A stored body in a file, open: it can be read to the end though its record is evicted meanwhile.
///
/// No byte is given out before the MiB it belongs to was read into memory and compared with its checksum there. Any number
/// of threads may read at once; each call needs up to 1 MiB of memory while it runs.
package final class BlobReader: Sendable {
    /// What the record says of the body.
    package let reference: BlobReference
    private let file: Descriptor

    init(reference: BlobReference, file: consuming Descriptor) {
        self.reference = reference
        self.file = file
    }

    /// Bytes of the body.
    package var length: UInt64 { reference.length }

    // MARK: - Reading

    /// The whole body. For bodies whose length the caller has compared with what it wants in memory.
    package func bytes() throws(BlobError) -> [UInt8] {
        var isWhole = true
        let bytes = [UInt8](unsafeUninitializedCapacity: Int(clamping: length)) { buffer, count in
            let memory = UnsafeMutableRawBufferPointer(buffer)
            for index in reference.checksums.indices {
                let range = reference.range(ofChunk: index)
                let part = memory[Int(range.lowerBound)..<Int(range.upperBound)]
                isWhole = load(index, into: UnsafeMutableRawBufferPointer(rebasing: part))
                if !isWhole { return }
            }
            count = buffer.count
        }
        guard isWhole else { throw .damaged }
        return bytes
    }

    /// Reads part of the body, piece by piece; a piece is valid only while the closure runs.
    ///
    /// - Parameters:
    ///   - range: Which bytes; what is beyond the end is left out.
    ///   - each: Takes the next bytes, up to 1 MiB. Returns whether to go on.
    package func read(
        _ range: Range<UInt64>, _ each: (UnsafeRawBufferPointer) throws(BlobError) -> Bool
    ) throws(BlobError) {
        let range = range.clamped(to: 0..<length)
        if range.isEmpty { return }
        let size = UInt64(BlobReference.chunkSize)
        let chunks = Int(range.lowerBound / size)...Int((range.upperBound - 1) / size)
        let buffer = UnsafeMutableRawBufferPointer.allocate(
            byteCount: Int(min(size, length)), alignment: 64)
        defer { buffer.deallocate() }
        for index in chunks {
            let chunk = reference.range(ofChunk: index)
            let memory = UnsafeMutableRawBufferPointer(rebasing: buffer[..<chunk.count])
            guard load(index, into: memory) else { throw .damaged }
            let wanted = range.clamped(to: chunk)
            let start = Int(wanted.lowerBound - chunk.lowerBound)
            let goesOn = try each(UnsafeRawBufferPointer(rebasing: memory[start..<start + wanted.count]))
            if !goesOn { return }
        }
    }

    /// Reads and checks every byte.
    package func verify() throws(BlobError) {
        try read(0..<length) { _ in true }
    }

    /// Reads one chunk to where it is wanted; whether its bytes are those that were stored.
    private func load(_ index: Int, into memory: UnsafeMutableRawBufferPointer) -> Bool {
        var offset = reference.range(ofChunk: index).lowerBound
        var rest = memory
        while !rest.isEmpty {
            let count = pread(file.rawValue, rest.baseAddress, rest.count, off_t(offset))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            offset += UInt64(count)
            rest = UnsafeMutableRawBufferPointer(rebasing: rest.dropFirst(count))
        }
        return Checksum.of(UnsafeRawBufferPointer(memory)) == reference.checksums[index]
    }

    // MARK: - Copying

    /// Puts the body into an open file that is empty and stands at its start, by the cheapest way there is.
    ///
    /// A clone is verified after it was made, in the destination itself. Otherwise each MiB is written out of the memory
    /// in which it was verified; there is no `copy_file_range`, which would read the source a second time, unverified.
    ///
    /// - Throws: After an error the destination is to be thrown away; after `damaged` it is empty.
    package func copy(to destination: Int32) throws(BlobError) -> BlobCopyWay {
        let result = cblob_clone(file.rawValue, destination)
        if result == 0 {
            do throws(BlobError) {
                let copy = cblob_openat(AT_FDCWD, "/proc/self/fd/\(destination)", O_RDONLY, 0)
                // Without /proc the source is verified, whose blocks these are.
                guard copy >= 0 else {
                    try verify()
                    return .clone
                }
                try BlobReader(reference: reference, file: Descriptor(adopting: copy)).verify()
                return .clone
            } catch {
                ftruncate(destination, 0)
                throw error
            }
        }
        do throws(BlobError) {
            try read(0..<length) { (bytes) throws(BlobError) in
                try Self.write(bytes, to: destination)
                return true
            }
        } catch {
            if error == .damaged { ftruncate(destination, 0) }
            throw error
        }
        return .bytes
    }

    /// Gives the blob another name: a hard link, for who asks for one.
    ///
    /// The file is then the cache's own, and read-only for that reason: what changes it damages the stored response, which
    /// is seen when it is read next, and is a miss then.
    ///
    /// - Parameters:
    ///   - directory: An open directory of the same file system.
    ///   - name: A free name there.
    /// - Throws: `destination` with `EXDEV` for another file system, `EEXIST` for a taken name.
    package func link(in directory: Int32, as name: String) throws(BlobError) {
        try verify()
        let result = cblob_link_open(file.rawValue, directory, name)
        if result < 0 { throw .destination(SystemError(errno: -result, call: "linkat")) }
    }

    private static func write(_ bytes: UnsafeRawBufferPointer, to file: Int32) throws(BlobError) {
        var rest = bytes
        while !rest.isEmpty {
            let count = Glibc.write(file, rest.baseAddress, rest.count)
            if count < 0 {
                if errno == EINTR { continue }
                throw .destination(SystemError(errno: errno, call: "write"))
            }
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
        }
    }
}

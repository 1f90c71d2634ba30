import CTrawlPlatform
import Glibc

/// Why a shared segment was not accepted.
package enum SharedSegmentError: Error, Equatable, Sendable {
    /// Not a memory file, or one that could still be truncated under the reader.
    case notSealed
    /// No segment of ours.
    case badMagic
    /// A segment of another build.
    case wrongLayout(UInt32)
    /// Counts and sizes that do not belong together, or are out of bounds.
    case badGeometry
    case system(SystemError)
}

/// The memory that coordinator and workers share: token buckets, worker lines, progress lines.
///
/// All processes may write all of it, so what is read is untrusted: any word may hold any value. The geometry is copied
/// out at attach and never read again. Layout: `CTrawlPlatform/include/shared_segment.h`.
///
/// `@unchecked Sendable`: the mapping lives as long as the object, the stored properties never change, and every access
/// after `init` is a lock-free atomic of one aligned word.
package final class SharedSegment: @unchecked Sendable {
    /// The version of the layout; coordinator and worker must have the same.
    package static let layoutVersion = UInt32(CPLATFORM_SEGMENT_LAYOUT)
    /// The number of token buckets.
    package static let bucketCount = Int(CPLATFORM_SEGMENT_BUCKETS)
    /// The number of limits, each of two buckets.
    package static let limitCount = bucketCount / 2
    /// The most worker slots a segment has.
    package static let maximumWorkers = Int(CPLATFORM_SEGMENT_MAX_WORKERS)

    /// The number of worker slots.
    package let workers: Int
    /// The number of progress lines of each worker.
    package let transfersPerWorker: Int
    /// The memory file, to be passed to workers.
    package let descriptor: Descriptor

    private let base: UnsafeMutableRawPointer
    private let size: Int

    private init(descriptor: consuming Descriptor, base: UnsafeMutableRawPointer, geometry: SegmentGeometry) {
        self.descriptor = descriptor
        self.base = base
        size = geometry.totalSize
        workers = geometry.workers
        transfersPerWorker = geometry.transfersPerWorker
    }

    deinit {
        _ = cplatform_unmap(base, size)
    }

    /// Makes a segment of zeros, of fixed size.
    package static func create(workers: Int, transfersPerWorker: Int) throws(SharedSegmentError) -> SharedSegment {
        guard let geometry = SegmentGeometry(workers: workers, transfersPerWorker: transfersPerWorker) else {
            throw .badGeometry
        }
        let signal = FileSizeSignal()
        defer { signal.release() }
        do {
            let descriptor = try MemoryFile.create("trawl-segment")
            _ = try check(cplatform_truncate(descriptor.rawValue, Int64(geometry.totalSize)), "ftruncate")
            _ = try check(cplatform_add_seals(descriptor.rawValue, Seals.size), "fcntl")
            let base = try map(descriptor, geometry.totalSize)
            base.storeBytes(of: geometry.header, as: cplatform_segment_header.self)
            return SharedSegment(descriptor: descriptor, base: base, geometry: geometry)
        } catch {
            throw .system(error)
        }
    }

    /// Maps a segment that another process made, after checking it.
    package static func attach(_ descriptor: consuming Descriptor) throws(SharedSegmentError) -> SharedSegment {
        let seals = cplatform_get_seals(descriptor.rawValue)
        guard seals >= 0, seals & Seals.size == Seals.size, cplatform_is_shared_memory(descriptor.rawValue) == 1 else {
            throw .notSealed
        }
        let size = Int(cplatform_regular_size(descriptor.rawValue))
        guard (MemoryLayout<cplatform_segment_header>.size...SegmentGeometry.maximumSize).contains(size) else {
            throw .badGeometry
        }
        let base: UnsafeMutableRawPointer
        do {
            base = try map(descriptor, size)
        } catch {
            throw .system(error)
        }
        do {
            // Copied once, so that what is checked is what is used.
            let header = base.load(as: cplatform_segment_header.self)
            let geometry = try SegmentGeometry(checking: header, fileSize: size)
            return SharedSegment(descriptor: descriptor, base: base, geometry: geometry)
        } catch {
            _ = cplatform_unmap(base, size)
            throw error
        }
    }

    private static func map(_ descriptor: borrowing Descriptor, _ size: Int) throws(SystemError)
        -> UnsafeMutableRawPointer
    {
        var mapped: UnsafeMutableRawPointer?
        let result = cplatform_map(descriptor.rawValue, size, 1, &mapped)
        guard result >= 0, let mapped else { throw SystemError(errno: -result, call: "mmap") }
        return mapped
    }

    /// A token bucket.
    ///
    /// - Parameter index: 0 to 2,047.
    package func bucket(_ index: Int) -> SharedBucket {
        precondition((0..<Self.bucketCount).contains(index), "no such bucket")
        return SharedBucket(segment: self, line: base + SegmentGeometry.bucketOffset(index))
    }

    /// The limits of a number.
    ///
    /// - Parameter number: 0 to 1,023.
    package func limit(_ number: Int) -> SharedLimit {
        precondition((0..<Self.limitCount).contains(number), "no such limit")
        return SharedLimit(down: bucket(2 * number), up: bucket(2 * number + 1))
    }

    /// Whether what is received is limited at present by the limit of a number. Each lease asks: a view of the limit
    /// would retain the segment.
    package func isLimited(_ number: Int) -> Bool {
        precondition((0..<Self.limitCount).contains(number), "no such limit")
        return cplatform_load_relaxed(base + SegmentGeometry.bucketOffset(2 * number) + cplatform_bucket_cost) != 0
    }

    /// The line of a worker slot.
    package func worker(_ slot: Int) -> SharedWorkerLine {
        precondition((0..<workers).contains(slot), "no such worker slot")
        return SharedWorkerLine(segment: self, line: base + SegmentGeometry.workerOffset(slot))
    }

    /// The progress line of one of a worker's transfers.
    package func progress(worker slot: Int, transfer index: Int) -> SharedProgressLine {
        precondition((0..<workers).contains(slot) && (0..<transfersPerWorker).contains(index), "no such progress line")
        let line = base + SegmentGeometry.progressOffset(workers: workers, line: slot * transfersPerWorker + index)
        return SharedProgressLine(segment: self, line: line)
    }
}

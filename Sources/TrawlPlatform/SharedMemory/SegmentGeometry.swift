import CTrawlPlatform

/// Where the parts of a shared segment lie; valid by construction.
struct SegmentGeometry: Equatable {
    static let line = 64
    static let maximumSize = SegmentGeometry.size(
        Int(CPLATFORM_SEGMENT_MAX_WORKERS), Int(CPLATFORM_SEGMENT_MAX_TRANSFERS))

    let workers: Int
    let transfersPerWorker: Int

    init?(workers: Int, transfersPerWorker: Int) {
        guard (1...Int(CPLATFORM_SEGMENT_MAX_WORKERS)).contains(workers),
            (1...Int(CPLATFORM_SEGMENT_MAX_TRANSFERS)).contains(transfersPerWorker)
        else { return nil }
        self.workers = workers
        self.transfersPerWorker = transfersPerWorker
    }

    /// The geometry a header claims, if it is one of ours and fits the file.
    init(checking header: cplatform_segment_header, fileSize: Int) throws(SharedSegmentError) {
        guard header.magic == Self.magic else { throw .badMagic }
        guard header.layout == UInt32(CPLATFORM_SEGMENT_LAYOUT) else { throw .wrongLayout(header.layout) }
        guard header.header_size == UInt32(Self.line), header.bucket_count == UInt32(CPLATFORM_SEGMENT_BUCKETS),
            withUnsafeBytes(of: header.reserved, { $0.allSatisfy { $0 == 0 } }),
            let geometry = SegmentGeometry(
                workers: Int(header.worker_slots), transfersPerWorker: Int(header.transfers_per_worker)),
            geometry.totalSize == fileSize, header.total_size == UInt64(fileSize)
        else { throw .badGeometry }
        self = geometry
    }

    var totalSize: Int { Self.size(workers, transfersPerWorker) }

    var header: cplatform_segment_header {
        var header = cplatform_segment_header()
        header.magic = Self.magic
        header.total_size = UInt64(totalSize)
        header.layout = UInt32(CPLATFORM_SEGMENT_LAYOUT)
        header.header_size = UInt32(Self.line)
        header.bucket_count = UInt32(CPLATFORM_SEGMENT_BUCKETS)
        header.worker_slots = UInt32(workers)
        header.transfers_per_worker = UInt32(transfersPerWorker)
        return header
    }

    static let magic = UInt64(CPLATFORM_SEGMENT_MAGIC)

    static func bucketOffset(_ index: Int) -> Int { line * (1 + index) }
    static func workerOffset(_ slot: Int) -> Int { line * (1 + Int(CPLATFORM_SEGMENT_BUCKETS) + slot) }
    static func progressOffset(workers: Int, line index: Int) -> Int {
        line * (1 + Int(CPLATFORM_SEGMENT_BUCKETS) + workers + index)
    }

    private static func size(_ workers: Int, _ transfers: Int) -> Int {
        progressOffset(workers: workers, line: workers * transfers)
    }
}

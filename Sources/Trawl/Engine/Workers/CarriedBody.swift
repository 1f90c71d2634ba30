import TrawlPlatform
import TrawlProtocol

/// A body that came in a descriptor beside the end of its lease.
struct CarriedBody {
    /// A memory file, mapped.
    private(set) var memory: Result<MappedBytes, MemoryFileError>?
    /// A file without a name; nil, too, when it is none of the length that was told.
    private(set) var file: PassedFile?

    /// Takes over what came; what is of no use is closed.
    init(_ descriptors: [Int32], of end: LeaseEnd) {
        if case .complete(.unnamed(let length, _)) = end.outcome {
            file = PassedFile(descriptors, length: length)
            return
        }
        for number in descriptors {
            let descriptor = Descriptor(adopting: number)
            guard memory == nil else { continue }
            do throws(MemoryFileError) {
                memory = .success(try MappedBytes(descriptor, limit: .max))
            } catch {
                memory = .failure(error)
            }
        }
    }
}

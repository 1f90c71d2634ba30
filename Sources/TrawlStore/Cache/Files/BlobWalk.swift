import TrawlPlatform

/// A walk over the files of all blobs, as many at a time as one short transaction looks at.
///
/// Directories are read outside of transactions, so nobody waits for the disk meanwhile. What is found is no more than
/// a guess: under the writer lock it is compared with the rows. A directory that cannot be read is passed over.
struct BlobWalk: Sendable {
    /// Directories read at a time.
    private static let mostDirectories = 16
    /// Files of one part.
    private static let mostFiles = 512

    /// Those that are not read yet; nil before the first look.
    private var directories: [String]?
    /// Files that were found and are in no part yet.
    private var found: [ContentDigest] = []
    /// The files that are due; none before the first `advance`, and where the directories read last are empty.
    private(set) var part: [ContentDigest] = []
    /// Why a directory could not be read, or a file not be removed, when one could not: not all is done.
    private(set) var failure: SystemError?

    /// Notes why a file could not be removed, when one could not.
    mutating func note(_ failure: SystemError?) {
        if let failure { self.failure = failure }
    }

    /// Goes on to the next part.
    ///
    /// - Returns: False at the end.
    mutating func advance(in blobs: BlobDirectory) -> Bool {
        var rest: [String] = []
        do throws(SystemError) {
            if let directories { rest = directories } else { rest = try blobs.directories() }
        } catch {
            failure = error
        }
        if found.isEmpty, rest.isEmpty { return false }
        var read = 0
        while found.count < Self.mostFiles, read < Self.mostDirectories, let directory = rest.popLast() {
            read += 1
            do throws(SystemError) {
                let digests = try blobs.digests(in: directory)
                found += digests
            } catch {
                failure = error
            }
        }
        directories = rest
        part = Array(found.prefix(Self.mostFiles))
        found.removeFirst(part.count)
        return true
    }
}

import Glibc
import TrawlCrypto
import TrawlPlatform
import TrawlSession

/// The netrc files that requests name, read when they are needed and again when they have changed.
final class NetrcFiles: Sendable {
    private struct Version: Equatable {
        let device: dev_t
        let inode: ino_t
        let size: off_t
        let seconds: Int
        let nanoseconds: Int
    }

    /// What a file said when it was read.
    struct Reading: Sendable {
        let netrc: Netrc
        /// One of its own for each reading.
        let number: UInt64
    }

    private struct Known {
        var files: [String: (version: Version, reading: Reading)] = [:]
        var lastNumber: UInt64 = 0
    }

    private static let mostFiles = 16
    private let known = Guarded(Known())

    /// What an option's file says; nil for none.
    ///
    /// - Throws: ``FetchError/Code/file`` for a file that cannot be read, or is a pipe, ``FetchError/Code/badRequest``
    ///   with the line for one that makes no sense. Never what stands in it.
    func reading(_ option: RequestOptions.Authentication.NetrcFile) throws(FetchError) -> Reading? {
        switch option {
        case .none: return nil
        case .file(let path): return try read(path)
        case .optional(let path):
            do throws(FetchError) {
                return try read(path)
            } catch {
                if error.cause == .system(ENOENT) { return nil }
                throw error
            }
        }
    }

    private func read(_ path: String) throws(FetchError) -> Reading {
        // On the caller's thread, which is not to wait for whoever writes into a pipe.
        let opened = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
        guard opened >= 0 else { throw FetchError.file(path, errno) }
        let file = Descriptor(adopting: opened)
        var info = stat()
        guard fstat(file.rawValue, &info) == 0 else { throw FetchError.file(path, errno) }
        switch info.st_mode & S_IFMT {
        case S_IFREG, S_IFCHR: break
        case S_IFDIR: throw FetchError.file(path, EISDIR)
        default: throw FetchError.file(path, EINVAL)
        }
        let version = Version(
            device: info.st_dev, inode: info.st_ino, size: info.st_size, seconds: info.st_mtim.tv_sec,
            nanoseconds: info.st_mtim.tv_nsec)
        if let found = known.withLock({ $0.files[path] }), found.version == version { return found.reading }
        let netrc = try parse(file, path)
        return known.withLock { known in
            known.lastNumber += 1
            let reading = Reading(netrc: netrc, number: known.lastNumber)
            if known.files.count >= Self.mostFiles { known.files.removeAll() }
            known.files[path] = (version, reading)
            return reading
        }
    }

    private func parse(_ file: borrowing Descriptor, _ path: String) throws(FetchError) -> Netrc {
        let limits = Netrc.Limits()
        // One byte more than is allowed shows that there are too many.
        var bytes = [UInt8](repeating: 0, count: limits.bytes + 1)
        var count = 0
        defer { bytes.withUnsafeMutableBytes(wipe) }
        while count < bytes.count {
            let got = bytes.withUnsafeMutableBytes { bytes in
                let rest = UnsafeMutableRawBufferPointer(rebasing: bytes[count...])
                return Glibc.read(file.rawValue, rest.baseAddress, rest.count)
            }
            if got < 0 {
                if errno == EINTR { continue }
                throw FetchError.file(path, errno)
            }
            if got == 0 { break }
            count += got
        }
        let parsed: Result<Netrc, NetrcFault> = bytes.withUnsafeBytes { bytes in
            do throws(NetrcFault) {
                return .success(
                    try NetrcParser.parse(UnsafeRawBufferPointer(rebasing: bytes[..<count]), limits: limits))
            } catch {
                return .failure(error)
            }
        }
        switch parsed {
        case .success(let netrc): return netrc
        case .failure(let fault): throw FetchError(.badRequest, "\(path.terminalSafe): \(fault.explanation)")
        }
    }
}

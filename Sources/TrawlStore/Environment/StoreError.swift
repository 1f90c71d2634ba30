import CTrawlLMDB
import Glibc
package import TrawlPlatform

/// Why the store could not do what was asked.
package enum StoreError: Error, Equatable, Sendable {
    /// The file contradicts itself. A rebuildable environment is made anew by the next write.
    case damaged(path: String, detail: String)
    /// The environment has the size its settings allow, and the write did not fit.
    case full
    /// The disk or the user's quota is full, or the file would be larger than the process may write.
    case diskFull(SystemError)
    /// Another process writes, or was stopped while it wrote, and did not come to an end in time; 0 is an unknown
    /// process.
    case busy(path: String, process: Int32)
    /// Another process opens or closes the files, or was stopped while it did, and did not come to an end in time.
    case locked(path: String)
    /// As many snapshots are open as the lock file has places for, all by processes that live.
    case readersFull
    /// A newer version of the program wrote these files.
    case newerFormat(path: String, found: UInt32, supported: UInt32)
    /// An older version of the program wrote these files, and the settings bring no way to carry them over.
    case olderFormat(path: String, found: UInt32, supported: UInt32)
    /// A directory or file is not what the store may use: another owner, a file in the way, rights of others to it. What
    /// the system does not permit is `system`.
    case unusable(path: String, reason: String)
    /// This process was forked from one that has the environment open. Start processes by exec.
    case forked
    /// Closed already.
    case closed
    /// A key or value of a size LMDB does not take, or a key out of order in `append`.
    case unfit(String)
    /// Thrown by the caller's own code to end a transaction without effect.
    case abandoned
    case system(SystemError)
    /// A code of LMDB that has no case of its own.
    case library(code: Int32, call: String)
}

extension StoreError: CustomStringConvertible {
    /// What a person needs to act: the path, the call, the reason.
    package var description: String {
        switch self {
        case .damaged(let path, let detail): "\(path) is damaged: \(detail)"
        case .full: "the environment is full"
        case .diskFull(let error): "no space: \(error)"
        case .busy(let path, let process):
            "\(path): \(process == 0 ? "another process" : "process \(process)") has been writing to it for too long; "
                + "it may be stopped"
        case .locked(let path):
            "\(path): another process has been opening or closing it for too long; it may be stopped"
        case .readersFull: "too many snapshots are open at once"
        case .newerFormat(let path, let found, let supported):
            "\(path) has format \(found), newer than \(supported), the newest this program knows"
        case .olderFormat(let path, let found, let supported):
            "\(path) has format \(found), older than \(supported), and cannot be carried over"
        case .unusable(let path, let reason): "\(path): \(reason)"
        case .forked: "the environment was opened before this process was forked"
        case .closed: "the environment is closed"
        case .unfit(let what): what
        case .abandoned: "the transaction was abandoned"
        case .system(let error): error.description
        case .library(let code, let call): "\(call): \(String(cString: mdb_strerror(code)))"
        }
    }
}

extension StoreError {
    /// The error for a code LMDB returned; positive codes are error numbers of the system.
    static func from(_ code: Int32, _ call: StaticString, path: String) -> StoreError {
        switch code {
        case MDB_MAP_FULL: .full
        case MDB_READERS_FULL: .readersFull
        case MDB_CORRUPTED, MDB_PAGE_NOTFOUND, MDB_INVALID, MDB_VERSION_MISMATCH, MDB_CURSOR_FULL, MDB_PAGE_FULL,
            MDB_INCOMPATIBLE, Int32(clmdb_asserted):
            .damaged(path: path, detail: "\(call): \(text(code))")
        case MDB_BAD_VALSIZE: .unfit("a key of 1 to 511 bytes and a value below 4 GiB are what LMDB takes")
        case 1...: .from(SystemError(errno: code, call: call.description))
        default: .library(code: code, call: call.description)
        }
    }

    /// The error for a code LMDB returned when it began to read.
    ///
    /// It marks each process that reads by a lock on the byte of its number, which two processes have whose numbers
    /// count in different name spaces.
    static func fromReading(_ code: Int32, _ call: StaticString, path: String) -> StoreError {
        guard code == EAGAIN || code == EACCES else { return .from(code, call, path: path) }
        return .unusable(path: path, reason: "a process of another container has the same number as this one")
    }

    /// The error for a system call that failed.
    static func from(_ error: SystemError) -> StoreError {
        switch error.errno {
        case ENOSPC, EDQUOT, EFBIG: .diskFull(error)
        default: .system(error)
        }
    }

    private static func text(_ code: Int32) -> String {
        code == Int32(clmdb_asserted) ? "its pages contradict each other" : String(cString: mdb_strerror(code))
    }
}

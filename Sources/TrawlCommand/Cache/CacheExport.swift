import Glibc
import Trawl
import TrawlCache
import TrawlHTTP
import TrawlJSON
import TrawlPlatform
import TrawlStore

/// Writes stored responses beneath a directory, and never beside it.
///
/// Bound to one thread.
final class CacheExport {
    private static let indexName = "index.ndjson"

    private let root: OutputRoot
    private let decodes: Bool
    private let namesByKey: Bool
    private let now: WallTime
    private let index: PartFile
    private let bodies = StoredBytes()
    private var lines = JSONWriter()

    /// Responses seen.
    private(set) var responses = 0
    /// Files written, or found there with the same bytes.
    private(set) var files = 0
    /// Bytes of these files.
    private(set) var bytes: UInt64 = 0
    /// Responses without a file that should have one.
    private(set) var failed = 0

    /// - Parameters:
    ///   - decodes: Whether content codings are undone.
    ///   - namesByKey: Whether files are named by `KeyedName`, and not by host and path.
    ///   - now: When ages in the index are counted.
    init(into root: OutputRoot, decodes: Bool, namesByKey: Bool = false, at now: WallTime) throws(SystemError) {
        self.root = root
        self.decodes = decodes
        self.namesByKey = namesByKey
        self.now = now
        do throws(OutputError) {
            index = try root.createPart(for: Self.indexName)
        } catch {
            throw error.systemError
        }
    }

    /// Writes a response's body, if it has one, and its line of the index.
    func add(_ listing: StoredListing, from store: ResponseStore) throws(CommandError) {
        responses += 1
        var path: String?
        var length: UInt64 = 0
        var problem: String?
        if hasFile(listing) {
            do throws(Failure) {
                (path, length) = try write(listing, from: store)
                files += 1
                bytes += length
            } catch {
                switch error {
                case .gone:
                    // Removed meanwhile.
                    responses -= 1
                    return
                case .body(let reason):
                    problem = reason
                    failed += 1
                case .output(let error):
                    throw CommandError(
                        "\(listing.url.terminalSafe): \(SystemError.reason(error.errno))",
                        status: ExitStatus.outputError)
                }
            }
        }
        ResultLines.write(to: &lines) { writer in
            listing.write(to: &writer, at: now)
            if let path {
                writer.key("file")
                writer.string(path)
                writer.key("bytes")
                writer.integer(length)
            }
            if let problem {
                writer.key("error")
                writer.string(problem)
            }
        }
        if lines.count >= 1 << 16 { try flush() }
    }

    /// Gives the index its name.
    /// - Returns: The name; another than usual when that is taken.
    func finish() throws(CommandError) -> String {
        try flush()
        do throws(SystemError) {
            try index.publish(numberedFrom: 0, adoptsIdentical: false, sync: false)
            return index.path
        } catch {
            throw CommandError(file: Self.indexName, error.errno, status: ExitStatus.outputError)
        }
    }

    // MARK: Bodies

    private static let damaged = "the stored body was damaged, and is removed"

    private enum Failure: Error {
        case gone
        case body(String)
        case output(SystemError)
    }

    /// A part of a body is none when its codings are to be undone; an empty one is worth a file where it is what was
    /// asked for.
    private func hasFile(_ listing: StoredListing) -> Bool {
        let body = listing.response.facts.body
        if decodes, !body.isComplete { return false }
        return body.length > 0 || (200..<300).contains(listing.response.head.status)
    }

    private func path(of response: StoredResponse) throws(Failure) -> String {
        if namesByKey {
            guard let name = KeyedName.name(of: response) else {
                throw .body("libcrypto, which names the file, is not there")
            }
            return name
        }
        guard let target = TargetURI(key: response.key) else { throw .body("the URL is none") }
        return URLPath.path(of: target)
    }

    private func write(
        _ listing: StoredListing, from store: ResponseStore
    ) throws(Failure) -> (path: String, length: UInt64) {
        let path = try path(of: listing.response)
        let item: StoredItem
        do throws(BodyLoss) {
            item = try store.item(of: listing)
        } catch {
            switch error {
            case .gone: throw Failure.gone
            case .damaged: throw Failure.body(Self.damaged)
            case .unreadable(let error): throw Failure.body("\(error)")
            }
        }
        let part: PartFile
        do throws(OutputError) {
            part = try root.createPart(for: path, detours: true)
        } catch {
            throw .output(error.systemError)
        }
        var length: UInt64 = 0
        do throws(StoredBytes.Failure) {
            let shared = try bodies.deliver(item, decodes: decodes, into: part.rawValue) {
                (bytes) throws(SystemError) in
                length += UInt64(bytes.count)
                try part.write(bytes)
            }
            length += shared
        } catch {
            part.discard()
            switch error {
            case .damaged:
                if case .blob(let reader)? = item.body { store.cache.reportDamage(of: reader, item.use) }
                throw .body(Self.damaged)
            case .coding(let reason): throw .body(reason)
            case .output(let error): throw .output(error)
            }
        }
        do throws(SystemError) {
            try part.publish(numberedFrom: 0, adoptsIdentical: true, sync: false)
        } catch {
            throw .output(error)
        }
        return (part.path, length)
    }

    private func flush() throws(CommandError) {
        do throws(SystemError) {
            try lines.withUnsafeBytes { (bytes) throws(SystemError) in try index.write(bytes) }
        } catch {
            throw CommandError(file: Self.indexName, error.errno, status: ExitStatus.outputError)
        }
        lines.removeAll()
    }
}

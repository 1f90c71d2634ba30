import Trawl
import TrawlHTTP
import TrawlProtocol

/// The names of files for requests, and what becomes of names that are taken.
///
/// The file system decides whether a name is free, when the file is complete; here is no list of names. In a run that
/// goes on with another's results, a file of the same bytes that no record names is what that run left when it was
/// killed between the file and its record: it is taken over.
///
/// Bound to one thread.
struct FileNames {
    /// Collided names that are remembered, so that a name wanted often does not try all its numbers each time.
    private static let hintsKept = 4096

    private let naming: NameRule
    private let source: BatchSource
    private var hints: [String: UInt32] = [:]

    init(_ naming: NameRule, _ source: BatchSource) {
        self.naming = naming
        self.source = source
    }

    /// The path to ask for, relative to the output directory.
    /// - Throws: When the line lacks what its name is made of.
    func name(
        of request: ListedRequest, _ target: TargetURI, line: Int
    ) throws(FetchError) -> (path: String, collision: FileCollision) {
        let path: String
        if let out = request.out {
            path = out
        } else {
            do throws(BadLine) {
                path = try naming.path(for: target, line: line, id: request.id)
            } catch {
                throw FetchError(.badRequest, error.reason, url: target.text)
            }
        }
        var number = hints[path] ?? 0
        if source.isResumed {
            while source.wasRecorded(file: number == 0 ? path : "\(path).\(number)") { number += 1 }
        }
        return (path, .number(from: number, adoptsIdentical: source.isResumed))
    }

    /// A name was taken, and the file got another.
    mutating func collided(_ path: String, became other: String) {
        guard other.hasPrefix(path + "."), let number = UInt32(other.utf8.dropFirst(path.utf8.count + 1)) else { return }
        if hints.count >= Self.hintsKept { hints.removeAll(keepingCapacity: true) }
        hints[path] = max(hints[path] ?? 0, number &+ 1)
    }
}

extension UInt32 {
    fileprivate init?(_ digits: Substring.UTF8View) {
        self.init(String(Substring(digits)))
    }
}

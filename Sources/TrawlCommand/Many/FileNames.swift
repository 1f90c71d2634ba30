import Trawl
import TrawlHTTP
import TrawlPlatform
import TrawlProtocol

/// The names of files for requests, and what becomes of names that are taken.
///
/// In a batch the file system decides whether a name is free, when the file is complete; here is no list of names. In a
/// run that goes on with another's results, names of records are not free, whatever is there; and a file of the same
/// bytes that no record names is what that run left when it was killed between the file and its record: it is taken
/// over.
///
/// Bound to one thread.
struct FileNames {
    /// Collided names that are remembered, so that a name wanted often does not try all its numbers each time.
    private static let hintsKept = 4096

    private let naming: NameRule
    private let source: RequestSource
    /// Whether responses name their files: then nothing is known of a name before its response.
    private let namesFromHeads: Bool
    private var hints: [ExactText: UInt32] = [:]

    init(_ naming: NameRule, _ source: RequestSource, namesFromHeads: Bool) {
        self.naming = naming
        self.source = source
        self.namesFromHeads = namesFromHeads
    }

    /// Whether files of an earlier run may be taken over.
    var adoptsFiles: Bool { source.isResumed }

    /// The path to ask for, relative to the output directory.
    ///
    /// - Throws: When the line lacks what its name is made of.
    mutating func name(
        of fetch: FetchInFlight, _ target: TargetURI
    ) throws(FetchError) -> (path: String, collision: FileCollision) {
        let request = fetch.request
        let path: String
        if let out = request.out {
            path = out
        } else {
            do throws(BadLine) {
                path = try naming.path(for: target, line: fetch.line, id: request.id)
            } catch {
                throw FetchError(.badRequest, error.reason, url: target.text)
            }
        }
        // A worker does not know which other names are records'.
        if source.isResumed { return (path, .onlyNumber(firstUnrecorded(of: path))) }
        if namesFromHeads, request.out == nil { return (path, .number(from: 0, adoptsIdentical: false)) }
        return (path, .number(from: hints[ExactText(path)] ?? 0, adoptsIdentical: false))
    }

    /// The first number with which no record has the name, in a run that goes on; 0 is the name alone.
    mutating func firstUnrecorded(of path: String) -> UInt32 {
        let hint = hints[ExactText(path)] ?? 0
        var number = hint
        while source.wasRecorded(file: Self.numbered(path, number)) { number += 1 }
        // Those are looked at once, however many requests want the name.
        if number > hint { remember(path, number) }
        return number
    }

    /// A name no other request of this run got, for a file that replaces an earlier one: `name`, `name.1`, `name.2`.
    mutating func unused(_ name: String) throws(FetchError) -> String {
        var number = hints[ExactText(name)] ?? 0
        while source.wasRecorded(file: Self.numbered(name, number)) { number += 1 }
        let unused = Self.numbered(name, number)
        do throws(SystemError) {
            try source.record(file: unused)
        } catch {
            throw FetchError(
                .file, "file names cannot be remembered: no scratch file: \(SystemError.reason(error.errno))",
                cause: .system(error.errno))
        }
        if number > 0 { remember(name, number + 1) }
        return unused
    }

    /// The same for a request, which keeps the name that it got first when it is begun again.
    mutating func unused(_ name: String, for fetch: FetchInFlight) throws(FetchError) -> String {
        if let path = fetch.path { return path }
        return try unused(name)
    }

    private static func numbered(_ name: String, _ number: UInt32) -> String {
        number == 0 ? name : "\(name).\(number)"
    }

    /// A name was taken, and the file got another.
    mutating func collided(_ path: String, became other: String) {
        guard !namesFromHeads, other.hasPrefix(path + "."),
            let number = UInt32(other.utf8.dropFirst(path.utf8.count + 1))
        else { return }
        // In a run that goes on, numbers that were passed over may be of files to be taken over.
        if !source.isResumed { remember(path, number &+ 1) }
    }

    private mutating func remember(_ path: String, _ number: UInt32) {
        let key = ExactText(path)
        if hints.count >= Self.hintsKept, hints[key] == nil { hints.removeAll(keepingCapacity: true) }
        hints[key] = max(hints[key] ?? 0, number)
    }
}

extension UInt32 {
    fileprivate init?(_ digits: Substring.UTF8View) {
        self.init(String(Substring(digits)))
    }
}

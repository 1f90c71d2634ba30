import TrawlHTTP
import TrawlPlatform

/// `Cookie` fields that were made of a jar lately, so that requests to one origin do not look it up each time.
///
/// One holds as long as the jar's count of changes is the same, the clock reaches no time that a cookie in it knows,
/// and for a second at most: a writer that dies may leave the count as it is. Each is right for all paths of its
/// origin.
final class CookieFieldMemo: Sendable {
    /// A field, and when it is right.
    struct Entry: Sendable {
        /// The field's value; nil when no cookie goes along.
        let field: [UInt8]?
        /// The jar's count of changes.
        let changes: UInt64
        let from: WallTime
        /// It is not, from then on.
        let until: WallTime
    }

    private struct State {
        var entries: [Origin: Entry] = [:]
        var bytes = 0
    }

    private static let mostOrigins = 1024
    private static let mostBytes = 1 << 20
    private static let lifetime: Int64 = 1000

    private let state = Guarded(State())

    /// What is known for an origin; nil when nothing is.
    func entry(for origin: Origin, at changes: UInt64, _ now: WallTime) -> Entry? {
        // A clock may be set back.
        guard let entry = state.withLock({ $0.entries[origin] }), entry.changes == changes, now >= entry.from,
            now < entry.until
        else { return nil }
        return entry
    }

    /// Keeps a field.
    ///
    /// - Parameters:
    ///   - changes: The jar's count, as it was before the field was made.
    ///   - steady: Until when the same cookies go along by their own times; nil without any such.
    func keep(_ field: [UInt8]?, for origin: Origin, at changes: UInt64, _ now: WallTime, steadyUntil steady: WallTime?)
    {
        let limit = now.advanced(byMilliseconds: Self.lifetime)
        let until = steady.map { min($0, limit) } ?? limit
        guard until > now else { return }
        let length = field?.count ?? 0
        state.withLock { state in
            if state.entries.count >= Self.mostOrigins || state.bytes + length > Self.mostBytes { state = State() }
            let entry = Entry(field: field, changes: changes, from: now, until: until)
            let old = state.entries.updateValue(entry, forKey: origin)
            state.bytes += length - (old?.field?.count ?? 0)
        }
    }
}

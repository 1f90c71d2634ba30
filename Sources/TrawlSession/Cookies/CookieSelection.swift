package import TrawlHTTP

/// Gathers the stored cookies that go along with a request, and makes the field of them.
///
/// It holds views, not copies: use it inside of the transaction, or whatever else keeps the records where they are.
///
/// - Source: RFC 6265bis §5.8.3.
package struct CookieSelection {
    private struct Entry {
        let cookie: CookieView
        let pathLength: Int
        let creation: Int64
        let order: UInt64

        /// Longer paths first, then older cookies (step 2).
        @inline(__always)
        func goesBefore(_ other: Entry) -> Bool {
            if pathLength != other.pathLength { return pathLength > other.pathLength }
            if creation != other.creation { return creation < other.creation }
            return order < other.order
        }
    }

    private let target: CookieTarget
    private let now: WallTime
    private var entries: [Entry] = []
    /// Whether a request for another path of the origin may have other cookies.
    package private(set) var dependsOnPath = false

    /// An empty selection for a request.
    package init(for target: CookieTarget, at now: WallTime) {
        self.target = target
        self.now = now
    }

    /// Whether no cookie goes along.
    package var isEmpty: Bool { entries.isEmpty }
    /// How many go along.
    package var count: Int { entries.count }
    /// When a cookie that goes along ends, or its last access is worth a write, which may be so already; nil when there
    /// is none.
    package private(set) var steadyUntil: WallTime?

    /// Takes a stored cookie when it goes along with the request; says whether it does.
    @discardableResult
    package mutating func offer(_ cookie: CookieView) -> Bool {
        // A path begins with a slash, and all of them are in that one.
        if cookie.path.count != 1 { dependsOnPath = true }
        guard CookieRules.isSent(cookie, to: target, at: now) else { return false }
        var end = cookie.lastAccess.advanced(byMilliseconds: CookieRules.accessGrain)
        if let expiry = cookie.expiry { end = min(end, expiry) }
        steadyUntil = steadyUntil.map { min($0, end) } ?? end
        if entries.isEmpty { entries.reserveCapacity(16) }
        let entry = Entry(
            cookie: cookie, pathLength: cookie.path.count, creation: cookie.creation.milliseconds, order: cookie.order)
        guard let last = entries.last, entry.goesBefore(last) else {
            entries.append(entry)
            return true
        }
        // Nearly in order already, and few.
        var place = entries.count - 1
        if place < 16 {
            while place > 0, entry.goesBefore(entries[place - 1]) { place -= 1 }
        } else {
            var low = 0
            while low < place {
                let middle = (low + place) / 2
                if entry.goesBefore(entries[middle]) { place = middle } else { low = middle + 1 }
            }
        }
        entries.insert(entry, at: place)
        return true
    }

    /// Calls `body` with each cookie, in the order in which they are sent.
    package func forEach(_ body: (CookieView) -> Void) {
        for entry in entries { body(entry.cookie) }
    }

    /// The value of the `Cookie` field; nil when there is nothing to say.
    ///
    /// Manual cookies come first, in their order and as they stand; a stored one of the same name is left out.
    ///
    /// - Parameter limit: Bytes that stored ones may have together.
    package func field(manual: [ManualCookie] = [], limit: Int = CookieLimits().fieldLength) -> [UInt8]? {
        let stored = storedField(without: manual.flatMap(\.names), limit)
        var field = ManualCookie.field(of: manual)
        if field.isEmpty { return stored.isEmpty ? nil : stored }
        if !stored.isEmpty {
            ManualCookie.separate(&field)
            field += stored
        }
        return field
    }

    private func storedField(without names: [[UInt8]], _ limit: Int) -> [UInt8] {
        if entries.isEmpty { return [] }
        var length = 0
        for entry in entries { length += Self.length(entry.cookie.name.count, entry.cookie.value.count) }
        let room = min(length, limit + 2)
        return [UInt8](unsafeUninitializedCapacity: room) { buffer, initialized in
            var writer = FieldWriter(buffer: UnsafeMutableRawBufferPointer(buffer))
            for entry in entries {
                let name = entry.cookie.name
                if !names.isEmpty, names.contains(where: { $0.withUnsafeBytes { $0.equals(name) } }) { continue }
                writer.append(name: name, value: entry.cookie.value)
            }
            initialized = max(0, writer.count - 2)
        }
    }

    /// Bytes of a cookie and the separator after it.
    private static func length(_ name: Int, _ value: Int) -> Int {
        (name == 0 ? 0 : name + 1) + value + 2
    }

    private struct FieldWriter {
        let buffer: UnsafeMutableRawBufferPointer
        var count = 0

        /// Adds a cookie and a separator, when both fit (step 4).
        @inline(__always)
        mutating func append(name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
            guard CookieSelection.length(name.count, value.count) <= buffer.count - count else { return }
            if !name.isEmpty {
                copy(name)
                buffer[count] = UInt8(ascii: "=")
                count += 1
            }
            copy(value)
            buffer[count] = UInt8(ascii: ";")
            buffer[count + 1] = UInt8(ascii: " ")
            count += 2
        }

        @inline(__always)
        private mutating func copy(_ bytes: UnsafeRawBufferPointer) {
            UnsafeMutableRawBufferPointer(rebasing: buffer[count...]).copyMemory(from: bytes)
            count += bytes.count
        }
    }
}

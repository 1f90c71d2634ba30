import TrawlHTTP
import TrawlPlatform

/// Lines that cannot start soon while others could: set aside, so that a host that takes its time does not keep the
/// rest of the list waiting.
///
/// It exists from the moment when all that may be read ahead waits for its hosts although workers have nothing to do,
/// and as long as lines are aside. What is aside has no record: a run that is killed leaves it to the next, as any line
/// it did not come to.
///
/// Bound to one thread. A class, since a batch without it is to pay for a reference alone.
final class LinesAside {
    /// A line that could not be set aside for want of room.
    struct Held {
        let fetch: FetchInFlight
        let origin: Origin
        let bytes: [UInt8]
    }

    /// How much of a disk lines may take.
    static let mostBytes = 256 << 20
    /// Requests that may be in flight or wait beside those that may be without this: with them the table is as large as
    /// it may become when requests wait to be tried again.
    static let mostMore = FetchesInFlight.mostWaiting
    /// Turns in which nothing was aside after which there is no need of it.
    private static let longCalm = 256

    private let file: AsideFile
    private var shares: OriginShares
    private var pace: AsidePace
    private var held: Held?
    private var calmTurns = 0

    /// - Parameters:
    ///   - directory: Where lines are kept.
    ///   - share: Requests of an origin that may be in flight or wait at a time.
    ///   - now: The time.
    ///   - mostBytes: What lines may take in the file, and `pieceSize` what they may take in memory.
    init(
        in directory: String, share: Int, at now: MonotonicInstant, mostBytes: Int = LinesAside.mostBytes,
        pieceSize: Int = AsideFile.pieceSize
    ) throws(SystemError) {
        file = try AsideFile(in: directory, mostBytes: mostBytes, pieceSize: pieceSize)
        shares = OriginShares(most: share, inAll: Self.mostMore / 2)
        pace = AsidePace(at: now)
    }

    /// Lines that are aside.
    var count: Int { shares.asideCount + (held == nil ? 0 : 1) }

    var isEmpty: Bool { count == 0 }

    /// Whether more of the list may be read; when not, ``readsAgainAt`` may say when.
    func mayRead(at now: MonotonicInstant) -> Bool { held == nil && pace.hasLeft(at: now) }

    /// When more may be read, if nothing else happens; nil where something must.
    var readsAgainAt: MonotonicInstant? { held == nil ? pace.next : nil }

    /// Lines were read, for as long as that, and answers are looked at now.
    func endReading(from start: MonotonicInstant, to end: MonotonicInstant) { pace.endSpell(from: start, to: end) }

    /// A turn is over.
    ///
    /// - Parameter isCalm: Whether no more is read ahead than there would be without this.
    /// - Returns: Whether this can go: it has not been needed for long.
    func turned(isCalm: Bool) -> Bool {
        calmTurns = isCalm && isEmpty ? calmTurns + 1 : 0
        return calmTurns > Self.longCalm
    }

    /// Requests wait for nothing but a time: they take no place of others of their origins, as far as there is room.
    ///
    /// - Parameters:
    ///   - waiting: How many.
    ///   - room: How many more requests there may be in all.
    func note(waiting: Int, room: Int) {
        // Each origin that comes gets less of what is left.
        shares.widen(by: min(waiting, max(0, room) / 4))
    }

    // MARK: Requests

    /// A request that is in flight already.
    func add(_ fetch: FetchInFlight, of origin: Origin) {
        fetch.originNumber = shares.number(of: origin)
        shares.started(fetch.originNumber)
    }

    /// Whether a request that was read may start; then it counts as started.
    func starts(_ fetch: FetchInFlight, of origin: Origin) -> Bool {
        let number = shares.number(of: origin)
        fetch.originNumber = number
        guard shares.mayStart(number) else { return false }
        shares.started(number)
        pace.started()
        return true
    }

    /// A request that was started is over.
    func ended(_ fetch: FetchInFlight) {
        shares.ended(fetch.originNumber)
    }

    // MARK: Lines

    /// Sets a line aside whose request must not start.
    ///
    /// - Parameters:
    ///   - bytes: The line as it came; valid during the call.
    ///   - mayStart: Whether its request may start all the same where there is no room for the line.
    /// - Returns: Whether its request is to start, after all.
    func setAside(
        _ fetch: FetchInFlight, of origin: Origin, _ bytes: UnsafeRawBufferPointer, mayStart: Bool
    ) -> Bool {
        let line = Held(fetch: fetch, origin: origin, bytes: Array(bytes))
        if keep(line) { return false }
        if mayStart, !shares.hasRow(fetch.originNumber) {
            shares.started(fetch.originNumber)
            return true
        }
        held = line
        return false
    }

    /// The request of the line that was held, when it is its turn; it counts as started then. A line for which there is
    /// room by now is held no longer.
    func takeHeld() -> FetchInFlight? {
        guard let line = held else { return nil }
        // All others of its origin may be over since.
        line.fetch.originNumber = shares.number(of: line.origin)
        if shares.mayStart(line.fetch.originNumber) {
            shares.started(line.fetch.originNumber)
            held = nil
            return line.fetch
        }
        if keep(line) { held = nil }
        return nil
    }

    /// Whether a line may come back.
    var hasDue: Bool { shares.hasDue }

    /// The next line that comes back; its request counts as started.
    func next() throws(AsideFile.Failure) -> (line: AsideLine, number: OriginShares.Number)? {
        guard let (number, place) = shares.nextDue() else { return nil }
        let (line, next) = try file.take(place)
        shares.cameBack(number, next: next)
        return (line, number)
    }

    private func keep(_ line: Held) -> Bool {
        let fetch = line.fetch
        let aside = AsideLine(number: fetch.line, isAgain: fetch.isAgain, started: fetch.started, bytes: line.bytes)
        // What has more than a URL may have a body, fields or credentials.
        let isSecret = fetch.request.own != nil || UserInformation.holdsAtSign(fetch.request.url)
        let last = shares.last(of: fetch.originNumber)
        guard let place = file.append(aside, after: last, isSecret: isSecret) else { return false }
        shares.setAside(fetch.originNumber, at: place)
        pace.setAside()
        return true
    }
}

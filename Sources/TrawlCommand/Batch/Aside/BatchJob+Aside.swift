import Trawl
import TrawlHTTP
import TrawlPlatform
import TrawlProtocol

/// Lines that others overtake, as long as a batch sets lines aside.
extension BatchJob {
    /// Whether another line is read in this turn: as long as workers have nothing to do, and no more than they can
    /// take. (Mutating, and without operators whose right side waits: both would take a copy of the whole job along.)
    mutating func mayOvertake(_ load: DriverLoad, _ turn: DriverTurn) -> Bool {
        guard let aside, load.hasRoom, turn.start.count < 2 * plan.configuration.transfersInAll,
            hasRoom(beside: LinesAside.mostMore)
        else { return false }
        return aside.mayRead(at: now)
    }

    /// Ends the reading of a turn, and says when it goes on.
    func endReading(since began: MonotonicInstant, _ turn: inout DriverTurn) {
        guard let aside else { return }
        aside.endReading(from: began, to: MonotonicClock.now())
        guard !isInputOver, !tally.outputIsBroken, turn.input == nil, hasRoom(beside: LinesAside.mostMore) else {
            return
        }
        if aside.mayRead(at: now) {
            // Of the outputs' room a turn tells by itself.
            turn.wantsRoom = outputs.hasRoom()
        } else if let next = aside.readsAgainAt {
            turn.wakeAt = min(turn.wakeAt ?? next, next)
        }
    }

    /// Starts a request that was read, or sets its line aside where its origin has all it may.
    mutating func startOrSetAside(_ fetch: FetchInFlight, into prepared: inout [PreparedFetch]) {
        guard let aside, let target = templates.target(of: fetch.request) else {
            return start(fetch, into: &prepared)
        }
        let starts =
            aside.starts(fetch, of: target.origin)
            || aside.setAside(fetch, of: target.origin, source.lineBytes, mayStart: hasRoom)
        // What a line says of its own may make its URL a bad one.
        if starts { start(fetch, fetch.request.own == nil ? target : nil, into: &prepared) }
    }

    /// Starts the requests of lines whose origins have room again.
    mutating func startSetAside(into prepared: inout [PreparedFetch]) {
        guard let aside else { return }
        aside.note(
            waiting: waiting, room: LinesAside.mostMore + min(waiting, plan.mostWaiting) - table.count)
        // Some are over as soon as they are back.
        while aside.hasDue, outputs.hasRoom(), outputs.waiting < TurnLimit.bytes, !table.isFullOfLines,
            !tally.outputIsBroken
        {
            do throws(AsideFile.Failure) {
                guard let (line, number) = try aside.next() else { break }
                let request = line.bytes.withUnsafeBytes { RequestLine($0, .list, beneath: plan.directory) }
                guard case .request(let request) = request else { throw .damaged }
                let fetch = FetchInFlight(request, line: line.number, isAgain: line.isAgain, at: line.started)
                fetch.originNumber = number
                start(fetch, into: &prepared)
            } catch {
                let reason =
                    switch error {
                    case .system(let error): SystemError.reason(error.errno)
                    case .damaged: "they are damaged"
                    }
                return breakOff("lines that were set aside cannot be read: \(reason)")
            }
        }
        if let fetch = aside.takeHeld() { start(fetch, into: &prepared) }
    }
}

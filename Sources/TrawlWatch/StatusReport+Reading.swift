package import TrawlJSON

/// Reads what ``StatusReport/write(to:)`` writes.
///
/// The bytes come from whoever listens at a socket, so nothing in them is believed: members that are not known are
/// passed over, and what lacks a member, or has one of another kind, is no report.
extension StatusReport {
    /// Why bytes are no report.
    package enum ReadingError: Error, Sendable, Hashable {
        /// They are not JSON.
        case malformed(JSONError)
        /// A member is missing, or makes no sense.
        case unusable
        /// It is of another version.
        case version(Int)
    }

    /// Reads a report.
    ///
    /// - Parameter bytes: One JSON text; whitespace may follow.
    package init(json bytes: UnsafeRawBufferPointer) throws(ReadingError) {
        let value: ReportValue
        do throws(JSONError) {
            var reader = try JSONReader(bytes)
            value = try ReportValue(&reader)
            try reader.finish()
        } catch {
            throw .malformed(error)
        }
        guard let version = value["v"]?.smallCount else { throw .unusable }
        guard version == Self.version else { throw .version(version) }
        guard let report = StatusReport(value) else { throw .unusable }
        self = report
    }

    private init?(_ value: ReportValue) {
        guard let program = value["program"]?.text, let process = value["pid"]?.process,
            let uptime = value["uptime"]?.seconds, let stage = value["stage"]?.text.flatMap(Stage.init(rawValue:)),
            let fetches = value["fetches"].flatMap(Fetches.init), let traffic = value["traffic"].flatMap(Traffic.init),
            let cache = value["cache"].flatMap(Cache.init), let failures = Self.all(value["errors"], Failure.init),
            let workers = Self.all(value["workers"], Worker.init), let hosts = Self.all(value["hosts"], Host.init),
            let hostCount = value["host_count"]?.smallCount
        else { return nil }
        self.init(
            program: program, process: process, uptime: uptime, stage: stage, workers: workers, fetches: fetches,
            traffic: traffic, cache: cache, failures: failures, hosts: hosts, hostCount: hostCount)
    }

    private static func all<Part>(_ value: ReportValue?, _ make: (ReportValue) -> Part?) -> [Part]? {
        guard let elements = value?.elements else { return nil }
        let parts = elements.compactMap(make)
        return parts.count == elements.count ? parts : nil
    }
}

extension StatusReport.Fetches {
    fileprivate init?(_ value: ReportValue) {
        guard let waiting = value["waiting"]?.smallCount,
            let waitingForNetwork = value["waiting_for_network"]?.smallCount,
            let inFlight = value["in_flight"]?.smallCount,
            let done = value["done"]?.count, let failed = value["failed"]?.count, let retries = value["retries"]?.count
        else { return nil }
        self.init()
        (self.waiting, self.inFlight, self.done, self.failed, self.retries) = (waiting, inFlight, done, failed, retries)
        self.waitingForNetwork = waitingForNetwork
    }
}

extension StatusReport.Traffic {
    fileprivate init?(_ value: ReportValue) {
        guard let received = value["received"]?.count, let sent = value["sent"]?.count,
            let receivedRate = value["received_per_second"]?.count, let sentRate = value["sent_per_second"]?.count,
            let receivedLimit = value["received_limit"], let sentLimit = value["sent_limit"],
            receivedLimit.isNull || receivedLimit.count != nil, sentLimit.isNull || sentLimit.count != nil,
            let isJoint = value["joint_limit"]?.flag, let isThrottled = value["throttled"]?.flag
        else { return nil }
        self.init()
        (self.received, self.sent) = (received, sent)
        (self.receivedRate, self.sentRate) = (receivedRate, sentRate)
        (self.receivedLimit, self.sentLimit) = (receivedLimit.count, sentLimit.count)
        (self.isJoint, self.isThrottled) = (isJoint, isThrottled)
    }
}

extension StatusReport.Cache {
    fileprivate init?(_ value: ReportValue) {
        guard let hits = value["hits"]?.count, let validated = value["validated"]?.count,
            let stale = value["stale"]?.count, let misses = value["misses"]?.count
        else { return nil }
        self.init()
        (self.hits, self.validated, self.stale, self.misses) = (hits, validated, stale, misses)
    }
}

extension StatusReport.Failure {
    fileprivate init?(_ value: ReportValue) {
        guard let code = value["code"]?.text, let count = value["count"]?.count else { return nil }
        self.init(code: code, count: count)
    }
}

extension StatusReport.Worker {
    fileprivate init?(_ value: ReportValue) {
        guard let slot = value["slot"]?.smallCount, let process = value["pid"],
            process.isNull || process.process != nil,
            let state = value["state"]?.text.flatMap(State.init(rawValue:)),
            let transfers = value["transfers"]?.smallCount, let restarts = value["restarts"]?.smallCount
        else { return nil }
        self.init(slot: slot, process: process.process, state: state, transfers: transfers, restarts: restarts)
    }
}

extension StatusReport.Host {
    fileprivate init?(_ value: ReportValue) {
        guard let origin = value["origin"]?.text, let inFlight = value["in_flight"]?.smallCount,
            let waiting = value["waiting"]?.smallCount, let state = value["state"]?.text.flatMap(State.init(rawValue:)),
            let snoozed = value["snoozed_for"], snoozed.isNull || snoozed.seconds != nil,
            let circuit = value["circuit"]?.text.flatMap(Circuit.init(rawValue:))
        else { return nil }
        self.init(
            origin: origin, inFlight: inFlight, waiting: waiting, state: state, snoozedFor: snoozed.seconds,
            circuit: circuit)
    }
}

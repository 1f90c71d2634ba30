package import TrawlJSON

/// The report as one line of JSON.
extension StatusReport {
    /// Its JSON, with a line feed at the end.
    package var json: [UInt8] {
        var writer = JSONWriter()
        write(to: &writer)
        return Array(writer.bytes)
    }

    /// Writes an object and the end of its line.
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("v")
        writer.integer(Self.version)
        writer.key("program")
        writer.string(program)
        writer.key("pid")
        writer.integer(Int(process))
        writer.key("uptime")
        writer.seconds(max(.zero, uptime))
        writer.key("stage")
        writer.string(stage.rawValue)
        writer.key("fetches")
        fetches.write(to: &writer)
        writer.key("traffic")
        traffic.write(to: &writer)
        writer.key("cache")
        cache.write(to: &writer)
        writer.key("errors")
        writer.beginArray()
        for failure in failures {
            writer.beginObject()
            writer.key("code")
            writer.string(failure.code)
            writer.key("count")
            writer.integer(failure.count)
            writer.endObject()
        }
        writer.endArray()
        writer.key("workers")
        writer.beginArray()
        for worker in workers { worker.write(to: &writer) }
        writer.endArray()
        writer.key("host_count")
        writer.integer(hostCount)
        writer.key("hosts")
        writer.beginArray()
        for host in hosts { host.write(to: &writer) }
        writer.endArray()
        writer.endObject()
        writer.endLine()
    }
}

extension StatusReport.Fetches {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("waiting")
        writer.integer(waiting)
        writer.key("waiting_for_network")
        writer.integer(waitingForNetwork)
        writer.key("in_flight")
        writer.integer(inFlight)
        writer.key("done")
        writer.integer(done)
        writer.key("failed")
        writer.integer(failed)
        writer.key("retries")
        writer.integer(retries)
        writer.endObject()
    }
}

extension StatusReport.Traffic {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("received")
        writer.integer(received)
        writer.key("sent")
        writer.integer(sent)
        writer.key("received_per_second")
        writer.integer(receivedRate)
        writer.key("sent_per_second")
        writer.integer(sentRate)
        writer.key("received_limit")
        writer.limit(receivedLimit)
        writer.key("sent_limit")
        writer.limit(sentLimit)
        writer.key("joint_limit")
        writer.bool(isJoint)
        writer.key("throttled")
        writer.bool(isThrottled)
        writer.endObject()
    }
}

extension StatusReport.Cache {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("hits")
        writer.integer(hits)
        writer.key("validated")
        writer.integer(validated)
        writer.key("stale")
        writer.integer(stale)
        writer.key("misses")
        writer.integer(misses)
        writer.endObject()
    }
}

extension StatusReport.Worker {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("slot")
        writer.integer(slot)
        writer.key("pid")
        if let process { writer.integer(Int(process)) } else { writer.null() }
        writer.key("state")
        writer.string(state.rawValue)
        writer.key("transfers")
        writer.integer(transfers)
        writer.key("restarts")
        writer.integer(restarts)
        writer.endObject()
    }
}

extension StatusReport.Host {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("origin")
        writer.string(origin)
        writer.key("in_flight")
        writer.integer(inFlight)
        writer.key("waiting")
        writer.integer(waiting)
        writer.key("state")
        writer.string(state.rawValue)
        writer.key("snoozed_for")
        if let snoozedFor { writer.seconds(max(.zero, snoozedFor)) } else { writer.null() }
        writer.key("circuit")
        writer.string(circuit.rawValue)
        writer.endObject()
    }
}

extension JSONWriter {
    /// A limit, or `null` for none.
    fileprivate mutating func limit(_ bytes: UInt64?) {
        if let bytes { integer(bytes) } else { null() }
    }
}

import CTrawlCurl
import TrawlHTTP
import TrawlPlatform
import TrawlProtocol

/// What a hop is said to have cost.
extension Transfer {
    /// What the exchange took, as libcurl measured it and as the connection says.
    func metrics() -> HopMetrics {
        var metrics = HopMetrics()
        // libcurl has a time for connections that are used again too, where no name is looked up.
        metrics.nameResolved = isReused ? 0 : time(CURLINFO_NAMELOOKUP_TIME_T)
        metrics.connected = time(CURLINFO_CONNECT_TIME_T)
        metrics.secured = time(CURLINFO_APPCONNECT_TIME_T)
        metrics.requestSent = time(CURLINFO_PRETRANSFER_TIME_T)
        metrics.firstByte = time(CURLINFO_STARTTRANSFER_TIME_T)
        metrics.ended = time(CURLINFO_TOTAL_TIME_T)
        metrics.reusedConnection = isReused
        // Where another lease is to do that, it has not happened here.
        metrics.repeatedRequest = (isRepeated || isRepeatedByLibcurl) && !wantsOtherLease
        metrics.bytesReceived = bytesBeforeBody + receivedBytes
        metrics.bodyBytes = bodyBytes
        var requestSize = 0
        _ = ccurl_get_long(easy.raw, CURLINFO_REQUEST_SIZE, &requestSize)
        metrics.bytesSent = UInt64(max(0, requestSize))
        // By pattern: `==` of another module's enumeration is a call with both values.
        let hasBody = if case .none = lease.body { false } else { true }
        if hasBody {
            var uploaded: Int64 = 0
            _ = ccurl_get_offset(easy.raw, CURLINFO_SIZE_UPLOAD_T, &uploaded)
            metrics.bodyBytesSent = UInt64(max(0, uploaded))
            if sendsBodyWithHead {
                // Of what the system does not take at once libcurl counts the part that it took first.
                metrics.bytesSent = max(metrics.bytesSent, metrics.bodyBytesSent)
            } else {
                metrics.bytesSent += metrics.bodyBytesSent
            }
            // A body inside the lease is sent by libcurl without asking.
            if uploaded > 0 { progress?.set(sent: UInt64(uploaded)) }
        }
        if let connection {
            metrics.connection = connection.number
            metrics.remoteAddress = connection.remoteAddress
            metrics.remotePort = UInt16(truncatingIfNeeded: connection.remotePort)
        }
        // Those of bodies were counted as they came, also of a response whose place another took.
        counters.countIn(UInt64(heads.bytes))
        counters.countOut(metrics.bytesSent - min(metrics.bytesSent, countedOut))
        return metrics
    }

    /// Whether libcurl 7.88 counts the body among the bytes of the request: one that it has in memory, below 64 KiB, over
    /// HTTP/1 and without waiting for 100.
    private var sendsBodyWithHead: Bool {
        guard holdsRequestBody, case .inline(let bytes) = lease.body else { return false }
        return bytes.count < 64 << 10 && connection?.isHTTP2 != true && !asksBeforeBody
    }

    private func time<Microseconds: FixedWidthInteger>(_ info: CURLINFO) -> Microseconds {
        var microseconds: Int64 = 0
        _ = ccurl_get_offset(easy.raw, info, &microseconds)
        return Microseconds(clamping: microseconds)
    }
}

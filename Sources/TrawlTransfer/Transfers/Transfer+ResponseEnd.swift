import CTrawlCurl
import TrawlHTTP
import TrawlProtocol

/// Where a response ends other than libcurl has it: before a body that nobody wants, and before libcurl sees its end.
extension Transfer {
    /// Whether the transfer ends before a body that nobody wants: the connection closes after it, or with it, in any case.
    var endsAtHead: Bool {
        guard dropsBody, !awaitsAnswer, announced != 0, report.source == .network,
            easy.shape.forbidReuse || (announced ?? 0) > Self.drained
        else { return false }
        return head?.version != .http2 && keeper?.takesBytes != true
    }

    /// Whether a body that nobody wants is waited for.
    var drains: Bool { dropsBody && isInMulti && head != nil && report.source == .network && !awaitsAnswer }

    /// Whether the response is all there and libcurl 7.88 would go on: it reads on, or the server has not taken all of
    /// the request, as it may over HTTP/2 (RFC 9113 §8.1), and libcurl would try to send to a stream that nobody reads.
    var isComplete: Bool {
        guard let announced, receivedBytes >= announced else { return false }
        return readsOn || profile.multiplexes && head?.version == .http2 && hasUnsentBody
    }

    /// What of some bytes of the wire is of the response; the rest is nobody's, and the connection closes behind it.
    func ownPart(of piece: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        guard readsOn, let announced else { return piece }
        return UnsafeRawBufferPointer(rebasing: piece.prefix(Int(clamping: announced - receivedBytes)))
    }

    /// Ends the transfer with the answer it has, from within libcurl.
    func endWhole() {
        endsEarly = true
        endsWhole = true
    }

    /// Whether some of the request's body has not been sent.
    var hasUnsentBody: Bool {
        let length = requestBodyLength
        guard length > 0 else { return false }
        var uploaded: Int64 = 0
        _ = ccurl_get_offset(easy.raw, CURLINFO_SIZE_UPLOAD_T, &uploaded)
        return UInt64(max(0, uploaded)) < length
    }

    /// Whether the request asks by `Expect` before it sends its body.
    var asksBeforeBody: Bool { asksByItself || requestBodyLength > 0 && asksByHand }

    /// Whether a line of the lease asks. An empty one keeps libcurl from asking by itself.
    private var asksByHand: Bool {
        // The first line counts, as libcurl 7.88 has it.
        lease.fields.first("Expect")?.lowercased().contains("100-continue") ?? false
    }

    /// Whether libcurl has the request ask: 7.88 does that with bodies of more than 1 MiB, where no line of that name
    /// says what is to be.
    var asksByItself: Bool { requestBodyLength > 1 << 20 && !goesUnasked && !lease.fields.contains("Expect") }

    /// How many bytes the request's body has; 0 without one.
    var requestBodyLength: UInt64 {
        switch lease.body {
        case .none: 0
        case .inline(let bytes): UInt64(bytes.count)
        case .descriptor(let count): count
        }
    }
}

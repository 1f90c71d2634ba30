import CTrawlCurl
import Glibc
import TrawlHTTP
import TrawlProtocol

/// The proxy's part in a transfer: its answers to CONNECT, connections that belong to a user, and what goes wrong on
/// the way.
extension Transfer {
    /// Whether a connection may carry the request as far as its proxy is concerned; notes whose it is.
    ///
    /// A tunnel is granted to who asked for it, and some proxies take all that follows on a connection for the same
    /// user's. libcurl tells users of SOCKS apart, and not those whom only a field line names.
    func suits(_ connection: Connection, _ proxy: ProxyRoute) -> Bool {
        if connection.uses == 0 {
            // What came so far was the proxy's: its answer to CONNECT, or SOCKS.
            connection.accountedBytes = ccurl_socket_bytes_received(connection.socket)
        } else if connection.identity != proxy.identity {
            return false
        }
        connection.identity = proxy.identity
        return true
    }

    /// Whether a head is what the proxy says itself, and nobody's origin: a 407 of an HTTP proxy through which no tunnel
    /// leads. All else comes from the server, or stands for what that said.
    ///
    /// - Source: RFC 9110 §9.3.6, §15.5.8.
    func isOfProxy(_ head: ResponseHead) -> Bool {
        guard head.status == 407, isProxied, let proxy = lease.proxy else { return false }
        return proxy.kind.speaksHTTP && !proxy.tunnels && !lease.isSecure
    }

    /// Whether a line that comes now belongs to an answer to CONNECT and not to a response.
    ///
    /// Until a request has gone out there is no response; and when libcurl repeats a request, since its connection
    /// turned out to be closed, the new connection has a tunnel of its own.
    func isOfTunnel() -> Bool {
        guard requestsBegun > 0 else { return true }
        return head == nil && connectionsMade > connectionsAtRequest
    }

    /// Connections that libcurl has made in this attempt.
    var connectionsMade: Int {
        var count = 0
        _ = ccurl_get_long(easy.raw, CURLINFO_NUM_CONNECTS, &count)
        return count
    }

    /// A line of a proxy's answer to CONNECT (RFC 9110 §9.3.6).
    func receivedTunnelLine(_ line: UnsafeRawBufferPointer) -> Bool {
        var assembler: HeadAssembler
        if let tunnelHeads {
            assembler = tunnelHeads
        } else {
            assembler = HeadAssembler()
            assembler.maximumBytes = heads.maximumBytes
            assembler.maximumFields = heads.maximumFields
            assembler.isOfTunnel = true
        }
        tunnelHeads = nil
        do throws(HeadError) {
            if try assembler.take(line) { tunnelHead = try assembler.parse().head }
            tunnelHeads = assembler
            return true
        } catch {
            let text =
                switch error {
                case .malformed(let text), .tooLarge(let text): text.description
                }
            failure = proxyFailure("its answer to CONNECT: \(text)")
            return false
        }
    }

    /// The proxy's answer when it refused the tunnel: the head of what has no response.
    ///
    /// libcurl takes an interim head for the last word as well, which it is not: what would follow is not read.
    var refusalOfTunnel: ResponseHead? {
        guard let tunnelHead, tunnelHead.status / 100 != 2, !tunnelHead.isInterim else { return nil }
        return tunnelHead
    }

    /// What went wrong between here and the proxy, in place of what it looks like; nil when it was not that.
    func proxyFailure(insteadOf failure: HopFailure, _ result: CURLcode) -> HopFailure? {
        guard let proxy = lease.proxy, requestsBegun == 0 || connectionsMade > connectionsAtRequest else { return nil }
        let isTunnelMade = tunnelHead.map { $0.status / 100 == 2 } ?? false
        let reason: String
        let isUnmet: Bool
        switch result {
        // libcurl reads on behind a 407.
        case CURLE_OPERATION_TIMEDOUT:
            guard let refusalOfTunnel else { return nil }
            isUnmet = false
            reason = "it answered CONNECT with \(refusalOfTunnel.status), and no end of that came: \(failure.detail)"
        case CURLE_COULDNT_RESOLVE_PROXY:
            // Nobody was asked for it.
            isUnmet = failure.systemError != EAGAIN
            reason = isUnmet ? "its name has no address" : failure.detail
        case CURLE_COULDNT_CONNECT:
            isUnmet = true
            reason = "could not connect: \(failure.detail)"
        case CURLE_PROXY:
            isUnmet = hasLostProxy
            reason = failure.detail
        case CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_GOT_NOTHING, CURLE_OUT_OF_MEMORY, CURLE_WEIRD_SERVER_REPLY,
            CURLE_UNSUPPORTED_PROTOCOL,
            // Said of a line without a colon.
            CURLE_BAD_FUNCTION_ARGUMENT:
            guard !isTunnelMade else { return nil }
            isUnmet = tunnelHead == nil && [CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_GOT_NOTHING].contains(result)
            if let tunnelHead {
                let phrase = ResponseHead.text(ofReason: tunnelHead.reason)
                reason = "it answered CONNECT with \(tunnelHead.status) \(phrase)"
            } else {
                reason = "the connection broke before it was of use: \(failure.detail)"
            }
        case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CERTPROBLEM,
            CURLE_SSL_CIPHER:
            // Within a tunnel it is the origin's.
            guard proxy.kind == .https, !isTunnelMade else { return nil }
            // Who shows another certificate was met.
            isUnmet = result == CURLE_SSL_CONNECT_ERROR
            reason = "TLS: \(failure.detail)"
        default:
            return nil
        }
        return proxyFailure(reason, curlCode: failure.curlCode, systemError: failure.systemError, isUnmet: isUnmet)
    }

    /// Whether the connection to a SOCKS proxy broke; else the proxy refused, or said what makes no sense.
    private var hasLostProxy: Bool {
        var code = 0
        _ = ccurl_get_long(easy.raw, CURLINFO_PROXY_ERROR, &code)
        switch CURLproxycode(rawValue: UInt32(truncatingIfNeeded: code)) {
        case CURLPX_CLOSED, CURLPX_RECV_ADDRESS, CURLPX_RECV_AUTH, CURLPX_RECV_CONNECT, CURLPX_RECV_REQACK,
            CURLPX_SEND_AUTH, CURLPX_SEND_CONNECT, CURLPX_SEND_REQUEST:
            return true
        default:
            return false
        }
    }

    private func proxyFailure(
        _ reason: String, curlCode: UInt32 = 0, systemError: Int32 = 0, isUnmet: Bool = false
    ) -> HopFailure {
        let place = lease.proxy?.text ?? ""
        return HopFailure(
            .proxy, curlCode: curlCode, systemError: systemError, requestSent: mayHaveBeenSent, isUnmet: isUnmet,
            detail: "the proxy \(place): \(reason)")
    }
}

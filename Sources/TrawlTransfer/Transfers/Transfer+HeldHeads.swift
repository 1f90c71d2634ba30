import TrawlHTTP
import TrawlProtocol

/// Heads that libcurl may follow with a request of its own, within the same transfer.
///
/// It does so behind a 401 or 407 within an exchange of NTLM or Negotiate, and never hands over the body of such a
/// response. So these heads are held back until it is known: when a byte of a body comes, or the transfer ends, the
/// head was the answer; when another head comes, it was none, and nobody hears of it but the store's cookie jar: a
/// server may set cookies with whatever it says (RFC 6265bis §3). A coordinator is told one head for a lease.
extension Transfer {
    /// Most heads held back in one attempt. NTLM has two legs and may begin anew once, Negotiate has few.
    private static var mostHeldHeads: Int { 8 }

    /// Takes a head that may not be the answer.
    ///
    /// - Returns: False when it is the answer.
    func holdsBack(_ head: ResponseHead, _ facts: HeadFacts) -> Bool {
        guard heldHeads < Self.mostHeldHeads else { return false }
        switch head.status {
        case 401:
            guard hasLogin, goesOn(head, lease.login?.scheme, "WWW-Authenticate") else { return false }
        case 407:
            // Alike from a proxy. What comes out of a tunnel is not the proxy's word (RFC 9110 §9.3.6).
            guard hasProxyLogin, tunnelHead == nil, goesOn(head, lease.proxy?.login?.scheme, "Proxy-Authenticate")
            else { return false }
        default:
            return false
        }
        // When it turns out to be the answer they are stored once more, which changes nothing.
        if facts.hasSetCookie { storeCookies(of: head) }
        heldHeads += 1
        heldHead = head
        heldFacts = facts
        return true
    }

    /// Whether a head refuses a question that libcurl asked by itself. Then it is not the answer, and nobody hears of
    /// it, but for its cookies: the request goes out once more on another connection, unasked. Nothing was done, so its
    /// method does not matter.
    ///
    /// libcurl 7.88 does that, too, but not where the 417 closes its connection.
    ///
    /// - Source: RFC 9110 §10.1.1, §15.5.18.
    func goesOutUnasked(behind head: ResponseHead, _ facts: HeadFacts) -> Bool {
        guard head.status == 417, self.head == nil, asksByItself, hasUnsentBody, connection?.isHTTP2 != true
        else { return false }
        if facts.hasSetCookie { storeCookies(of: head) }
        goesUnasked = true
        wantsFreshConnection = true
        return true
    }

    /// Whether an exchange goes on behind a challenge: at one with a token (RFC 4559 §4.2); and at the first one
    /// without, where libcurl may begin anew.
    private func goesOn(_ head: ResponseHead, _ scheme: ConnectionLogin.Scheme?, _ field: String) -> Bool {
        let name = scheme == .ntlm ? "ntlm " : "negotiate "
        let hasToken = head.fields.values(field).contains { value in
            value.utf8.count > name.utf8.count && value.lowercased().hasPrefix(name)
        }
        return hasToken || heldHeads == 0
    }

    /// No other head follows: the last one that was held back is the answer.
    func releaseHeldHead() {
        guard head == nil, failure == nil, let last = heldHead else { return }
        heldHeads = Self.mostHeldHeads
        _ = receivedHead(last, heldFacts)
    }
}

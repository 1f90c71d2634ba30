import CCurl
import TrawlHTTP
import TrawlProtocol

/// Schemes that prove a connection: NTLM and Negotiate, whose exchange libcurl carries out.
///
/// Such a transfer has a connection of its own, from its first request to its last, which nothing uses before or after:
/// libcurl 7.88 can give one user's connection to another.
extension Transfer {
    /// CURLAUTH_BASIC, _NEGOTIATE and _NTLM, which are macros Swift cannot read.
    private static var basic: Int { 1 << 0 }
    private static var negotiate: Int { 1 << 2 }
    private static var ntlm: Int { 1 << 3 }
    /// Legs of one exchange, at most: NTLM has two, Negotiate few.
    private static var mostHandshakes: Int { 8 }

    /// Tells libcurl who it is to be.
    func setLogin() {
        guard let login = lease.login else { return }
        hasLogin = true
        easy.set(CURLOPT_HTTPAUTH, login.scheme == .ntlm ? Self.ntlm : Self.negotiate)
        // RFC 9113 §8.1 leaves no room for what belongs to a connection.
        easy.set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1)
        easy.set(CURLOPT_PIPEWAIT, 0)
        easy.profile = nil
        // Past the handle's memory of what is set, which would keep the password.
        _ = login.user.withCString { ccurl_set_string(easy.raw, CURLOPT_USERNAME, $0) }
        _ = login.password.withCString { ccurl_set_string(easy.raw, CURLOPT_PASSWORD, $0) }
    }

    /// Takes it back, so that an idle handle knows nobody.
    func clearLogin() {
        guard hasLogin else { return }
        hasLogin = false
        easy.set(CURLOPT_HTTPAUTH, Self.basic)
        _ = ccurl_set_string(easy.raw, CURLOPT_USERNAME, nil)
        _ = ccurl_set_string(easy.raw, CURLOPT_PASSWORD, nil)
    }

    /// Whether a head is of the exchange itself, and no answer: a challenge with a token in it (RFC 4559 §4.2).
    ///
    /// It is kept: when nothing follows, it was the answer.
    func takesHandshake(_ head: ResponseHead, _ facts: HeadFacts) -> Bool {
        guard let login = lease.login, head.status == 401, handshakes < Self.mostHandshakes else { return false }
        let name = login.scheme == .ntlm ? "NTLM " : "Negotiate "
        let hasToken = head.fields.values("WWW-Authenticate").contains { value in
            value.utf8.count > name.utf8.count && value.lowercased().hasPrefix(name.lowercased())
        }
        guard hasToken else { return false }
        handshakes += 1
        handshake = head
        handshakeFacts = facts
        return true
    }

    /// The exchange ended in the middle: its last head is the answer.
    func endHandshake() {
        guard head == nil, failure == nil, let last = handshake else { return }
        handshakes = Self.mostHandshakes
        _ = receivedHead(last, handshakeFacts)
    }
}

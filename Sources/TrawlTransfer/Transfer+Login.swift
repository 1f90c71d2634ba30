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

    /// Whether the hop's connection is proved to be somebody's, to the server or to an HTTP proxy.
    var provesConnection: Bool { lease.login != nil || isProxied && lease.proxy?.login != nil }

    /// Tells libcurl who it is to be; after the proxy is set.
    func setLogin() {
        guard provesConnection else { return }
        // RFC 9113 §8.1 leaves no room for what belongs to a connection.
        easy.set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1)
        easy.set(CURLOPT_PIPEWAIT, 0)
        easy.profile = nil
        if let login = lease.login {
            hasLogin = true
            easy.set(CURLOPT_HTTPAUTH, Self.number(login.scheme))
            say(login, CURLOPT_USERNAME, CURLOPT_PASSWORD)
        }
        if let login = lease.proxy?.login {
            hasProxyLogin = true
            easy.set(CURLOPT_PROXYAUTH, Self.number(login.scheme))
            say(login, CURLOPT_PROXYUSERNAME, CURLOPT_PROXYPASSWORD)
        }
    }

    private static func number(_ scheme: ConnectionLogin.Scheme) -> Int { scheme == .ntlm ? ntlm : negotiate }

    /// Past the handle's memory of what is set, which would keep the password.
    private func say(_ login: ConnectionLogin, _ user: CURLoption, _ password: CURLoption) {
        _ = login.user.withCString { ccurl_set_string(easy.raw, user, $0) }
        _ = login.password.withCString { ccurl_set_string(easy.raw, password, $0) }
    }

    /// Takes it back, so that an idle handle knows nobody.
    func clearLogin() {
        if hasLogin {
            hasLogin = false
            easy.set(CURLOPT_HTTPAUTH, Self.basic)
            _ = ccurl_set_string(easy.raw, CURLOPT_USERNAME, nil)
            _ = ccurl_set_string(easy.raw, CURLOPT_PASSWORD, nil)
        }
        if hasProxyLogin {
            hasProxyLogin = false
            easy.set(CURLOPT_PROXYAUTH, Self.basic)
            _ = ccurl_set_string(easy.raw, CURLOPT_PROXYUSERNAME, nil)
            _ = ccurl_set_string(easy.raw, CURLOPT_PROXYPASSWORD, nil)
        }
    }

    /// Whether a head is of the exchange itself, and no answer: a challenge with a token in it (RFC 4559 §4.2).
    ///
    /// It is kept: when nothing follows, it was the answer.
    func takesHandshake(_ head: ResponseHead, _ facts: HeadFacts) -> Bool {
        guard hasLogin || hasProxyLogin, handshakes < Self.mostHandshakes,
            let (scheme, field) = exchange(of: head.status)
        else { return false }
        let name = scheme == .ntlm ? "NTLM " : "Negotiate "
        let hasToken = head.fields.values(field).contains { value in
            value.utf8.count > name.utf8.count && value.lowercased().hasPrefix(name.lowercased())
        }
        guard hasToken else { return false }
        handshakes += 1
        handshake = head
        handshakeFacts = facts
        return true
    }

    /// The exchange that a head of that status may be part of, and the field of its tokens.
    private func exchange(of status: UInt16) -> (ConnectionLogin.Scheme, String)? {
        switch status {
        case 401: lease.login.map { ($0.scheme, "WWW-Authenticate") }
        // What comes out of a tunnel is not the proxy's word (RFC 9110 §9.3.6).
        case 407 where tunnelHead == nil: lease.proxy?.login.map { ($0.scheme, "Proxy-Authenticate") }
        default: nil
        }
    }

    /// Whether libcurl goes on with an exchange whose head was taken for the answer: some servers never end it.
    var goesOnAfterAnswer: Bool {
        guard hasLogin || hasProxyLogin, let head else { return false }
        return head.status == 401 || head.status == 407
    }

    /// The exchange ended in the middle: its last head is the answer.
    func endHandshake() {
        guard head == nil, failure == nil, let last = handshake else { return }
        handshakes = Self.mostHandshakes
        _ = receivedHead(last, handshakeFacts)
    }
}

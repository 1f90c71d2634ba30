import CTrawlCurl
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

    /// Whether libcurl goes on with an exchange whose head was taken for the answer: some servers never end it.
    var goesOnAfterAnswer: Bool {
        switch head?.status {
        case 401, 407: hasLogin || hasProxyLogin
        case 417: asksBeforeBody
        default: false
        }
    }
}

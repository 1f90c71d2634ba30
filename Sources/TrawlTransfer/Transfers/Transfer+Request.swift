import CTrawlCurl
import Glibc
import TrawlHTTP
import TrawlPlatform
import TrawlProtocol

extension Transfer {
    /// Options that never change. Everything that is policy in libcurl is off: redirects, cookies, netrc, HSTS,
    /// authentication and both kinds of decoding.
    func setFixedOptions() {
        let context = Unmanaged.passUnretained(self).toOpaque()
        let raw = easy.raw
        easy.set(CURLOPT_NOSIGNAL, 1)
        easy.set(CURLOPT_NOPROGRESS, 1)
        easy.set(CURLOPT_FOLLOWLOCATION, 0)
        easy.set(CURLOPT_HTTP_TRANSFER_DECODING, 0)
        easy.set(CURLOPT_HTTP_CONTENT_DECODING, 0)
        // What a proxy answers to CONNECT is looked at, and told from the response.
        easy.set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 0)
        // The request's lines never go to the proxy with CONNECT, nor the proxy's through the tunnel.
        easy.set(CURLOPT_HEADEROPT, Int(CURLHEADER_SEPARATE))
        // CURLAUTH_BASIC: user and password (RFC 1929), no GSSAPI.
        easy.set(CURLOPT_SOCKS5_AUTH, 1)
        easy.set(CURLOPT_NOPROXY, "")
        easy.set(CURLOPT_NETRC, 0)
        easy.set(CURLOPT_DISALLOW_USERNAME_IN_URL, 1)
        // The URL is in normal form already; libcurl shall not see other dots than we do.
        easy.set(CURLOPT_PATH_AS_IS, 1)
        easy.set(CURLOPT_TCP_NODELAY, 1)
        // What a file names as trusted is what it names when a connection is made: 7.88 would go by it for a day.
        easy.set(CURLOPT_CA_CACHE_TIMEOUT, 0)
        // An answer that nobody needs any more is not waited for: libcurl would join the resolver's thread, and all
        // transfers would stand still.
        easy.set(CURLOPT_QUICK_EXIT, 1)
        _ = ccurl_set_pointer(raw, CURLOPT_ERRORBUFFER, easy.errorBuffer)
        _ = ccurl_set_pointer(raw, CURLOPT_PRIVATE, context)
        _ = ccurl_set_header(raw, onHeader, context)
        _ = ccurl_set_write(raw, onBody, context)
        _ = ccurl_set_read(raw, onRead, context)
        _ = ccurl_set_seek(raw, onSeek, context)
        _ = ccurl_set_prerequest(raw, onRequest, context)
        let table = Unmanaged.passUnretained(connections).toOpaque()
        _ = ccurl_set_open_socket(raw, onOpenSocket, context)
        _ = ccurl_set_close_socket(raw, onCloseSocket, table)
    }

    /// Options of the lease.
    ///
    /// - Parameter fields: Those of the request; the cache may have changed the lease's.
    /// - Returns: Why the request cannot be made, if so.
    func setOptions(_ fields: FieldLines) -> HopFailure? {
        profile.apply(to: easy, receiveBuffer: loop.receiveBuffer(for: profile))
        let decidesTrust = profile.profile.tls.question != .never
        if decidesTrust != easy.asksForTrust {
            easy.asksForTrust = decidesTrust
            _ = ccurl_set_tls(
                easy.raw, decidesTrust ? onTLS : nil, Unmanaged.passUnretained(self).toOpaque())
        }
        guard lease.url.withCString({ isAllowed($0) }) else {
            return HopFailure(.unsupportedScheme, detail: "only http and https are fetched, as far as allowed")
        }

        var shape = EasyHandle.RequestShape()
        shape.freshConnect = !lease.options.contains(.mayReuseConnection) || provesConnection
        shape.forbidReuse = !mayKeepConnection
        var hasBody = true
        if case .none = lease.body { hasBody = false }
        if lease.method == .get, !hasBody {
            // The usual request, and the usual shape.
        } else if lease.method == .head {
            guard !hasBody else { return HopFailure(.malformedRequest, detail: "HEAD with a body") }
            shape.form = .head
        } else if hasBody || lease.method.announcesEmptyBody {
            shape.form = .post
            if lease.method != .post { shape.custom = lease.method.name }
        } else {
            // A CONNECT of our own would turn the connection into a tunnel that nobody reads.
            guard lease.method != .connect else { return HopFailure(.malformedRequest, detail: "CONNECT") }
            if lease.method != .get { shape.custom = lease.method.name }
        }
        easy.apply(shape)
        if isProxied || easy.proxy?.isDirect != true { easy.apply(lease.proxy, profile.proxyAddresses) }
        // Over TLS libcurl 7.88 learns with the connection whether requests may share it; in clear, with the first
        // answer to one, and there is nothing to wait for.
        if profile.multiplexes { easy.set(CURLOPT_PIPEWAIT, lease.isSecure ? 1 : 0) }
        setLogin()
        if shape.form == .post { setBody() }
        let code = setURL(fields, hasBody: shape.form == .post)
        guard code == CURLE_OK else { return HopFailure(.malformedRequest, curlCode: code.rawValue, detail: "the URL") }
        return nil
    }

    /// Sets the URL and the field lines.
    private func setURL(_ fields: FieldLines, hasBody: Bool) -> CURLcode {
        let originLength = Int(lease.originLength)
        return lease.url.withCString { url in
            // A proxy may be sent whole URLs, and one that asks who we are has libcurl make the request again.
            if !isProxied, lease.login == nil,
                let (origin, length) = loop.origins.find(UnsafeBufferPointer(start: url, count: lease.url.utf8.count)),
                length == originLength + 1
            {
                easy.set(origin.lines(fields, hasBody: hasBody))
                return easy.setTarget(url + originLength, at: origin)
            }
            easy.set(easy.lines(fields, hasBody: hasBody))
            return easy.setURL(url, originLength: originLength)
        }
    }

    /// Whether a later request may go out on the connection.
    var mayKeepConnection: Bool {
        guard lease.options.contains(.mayKeepConnection), !provesConnection else { return false }
        // What an `https` proxy's own layer of TLS holds back cannot be seen, so nothing else goes out behind it.
        return !(isProxied && lease.proxy?.kind == .https)
    }

    private func isAllowed(_ url: UnsafePointer<CChar>) -> Bool {
        if strncmp(url, "http://", 7) == 0 { return profile.profile.allowsHTTP }
        return strncmp(url, "https://", 8) == 0 && profile.profile.allowsHTTPS
    }

    private func setBody() {
        holdsRequestBody = false
        switch lease.body {
        case .none:
            _ = ccurl_set_offset(easy.raw, CURLOPT_POSTFIELDSIZE_LARGE, 0)
            _ = ccurl_set_pointer(easy.raw, CURLOPT_POSTFIELDS, easy.errorBuffer)
        case .inline(let bytes) where limits?.isLimited(.up) == true:
            _ = ccurl_set_pointer(easy.raw, CURLOPT_POSTFIELDS, nil)
            _ = ccurl_set_offset(easy.raw, CURLOPT_POSTFIELDSIZE_LARGE, Int64(bytes.count))
        case .inline(let bytes):
            // libcurl reads it while it sends.
            if requestBody.count < bytes.count {
                requestBody.deallocate()
                requestBody = .allocate(byteCount: bytes.count, alignment: 16)
            }
            requestBody.copyBytes(from: bytes)
            holdsRequestBody = true
            _ = ccurl_set_offset(easy.raw, CURLOPT_POSTFIELDSIZE_LARGE, Int64(bytes.count))
            _ = ccurl_set_pointer(
                easy.raw, CURLOPT_POSTFIELDS, requestBody.baseAddress ?? UnsafeMutableRawPointer(easy.errorBuffer))
        case .descriptor(let length):
            _ = ccurl_set_pointer(easy.raw, CURLOPT_POSTFIELDS, nil)
            _ = ccurl_set_offset(easy.raw, CURLOPT_POSTFIELDSIZE_LARGE, Int64(clamping: length))
        }
    }
}

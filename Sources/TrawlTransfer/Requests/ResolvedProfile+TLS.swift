import CTrawlCurl
import TrawlHTTP
import TrawlProtocol

/// How TLS terms become libcurl's options.
extension ResolvedProfile {
    func apply(_ tls: TLSTerms, to easy: EasyHandle) {
        // Where the coordinator has the last word, the checks are made before the request is sent, and not by libcurl.
        let isDecided = tls.question != .never
        easy.set(CURLOPT_SSL_VERIFYPEER, tls.verifiesPeer && !isDecided ? 1 : 0)
        easy.set(CURLOPT_SSL_VERIFYHOST, tls.verifiesHost && !isDecided ? 2 : 0)
        easy.set(CURLOPT_SSLVERSION, Int(minimum(tls) | maximum(tls)))
        easy.setTrust(tls)
        easy.set(CURLOPT_PINNEDPUBLICKEY, tls.pins.isEmpty ? nil : tls.pins)
        easy.set(CURLOPT_SSL_CIPHER_LIST, tls.ciphers.isEmpty ? nil : tls.ciphers)
        easy.set(CURLOPT_TLS13_CIPHERS, tls.ciphers13.isEmpty ? nil : tls.ciphers13)
        // A session that is taken up again proves who began it, not who asks now.
        easy.set(CURLOPT_SSL_SESSIONID_CACHE, tls.identity == nil && !isDecided ? 1 : 0)
        easy.setIdentity(tls.identity)
    }

    private func minimum(_ tls: TLSTerms) -> Int {
        switch tls.minimum {
        case .any: Int(CURL_SSLVERSION_DEFAULT)
        case .tls1_0: Int(CURL_SSLVERSION_TLSv1_0)
        case .tls1_1: Int(CURL_SSLVERSION_TLSv1_1)
        case .tls1_2: Int(CURL_SSLVERSION_TLSv1_2)
        case .tls1_3: Int(CURL_SSLVERSION_TLSv1_3)
        }
    }

    private func maximum(_ tls: TLSTerms) -> Int {
        switch tls.maximum {
        case .any: Int(CURL_SSLVERSION_MAX_DEFAULT)
        case .tls1_0: Int(CURL_SSLVERSION_MAX_TLSv1_0)
        case .tls1_1: Int(CURL_SSLVERSION_MAX_TLSv1_1)
        case .tls1_2: Int(CURL_SSLVERSION_MAX_TLSv1_2)
        case .tls1_3: Int(CURL_SSLVERSION_MAX_TLSv1_3)
        }
    }
}

extension EasyHandle {
    /// Sets whom is trusted: what the terms name, and the system's choice when they name nothing.
    func setTrust(_ tls: TLSTerms) {
        let isOwn = !tls.caFile.isEmpty || !tls.caDirectory.isEmpty || !tls.caData.isEmpty
        // libcurl looks into all three, so that one left at its default would let the system's in.
        set(CURLOPT_CAINFO, !isOwn ? defaultCAFile : tls.caFile.isEmpty || !tls.caData.isEmpty ? nil : tls.caFile)
        set(CURLOPT_CAPATH, !isOwn ? defaultCADirectory : tls.caDirectory.isEmpty ? nil : tls.caDirectory)
        setBlob(CURLOPT_CAINFO_BLOB, tls.caData.isEmpty ? nil : SecretBytes(tls.caData))
    }

    /// Sets whom is trusted as an `https` proxy: what is in the file, and the system's choice when there is none.
    func setProxyTrust(_ file: String) {
        set(CURLOPT_PROXY_CAINFO, file.isEmpty ? defaultCAFile : file)
        set(CURLOPT_PROXY_CAPATH, file.isEmpty ? defaultCADirectory : nil)
    }

    /// Sets the client certificate.
    func setIdentity(_ identity: TLSIdentity?) {
        guard identity != self.identity else { return }
        self.identity = identity
        let key: TLSIdentity.Source? = identity.flatMap { identity in
            // In PKCS#12 the key is inside, and libcurl would read the file as one of a key alone.
            identity.certificateFormat == .pkcs12 ? nil : identity.key ?? identity.certificate
        }
        setSource(identity?.certificate, CURLOPT_SSLCERT, CURLOPT_SSLCERT_BLOB)
        setSource(key, CURLOPT_SSLKEY, CURLOPT_SSLKEY_BLOB)
        set(CURLOPT_SSLCERTTYPE, identity.map { $0.certificateFormat.curlName })
        set(CURLOPT_SSLKEYTYPE, identity.map { ($0.key == nil ? $0.certificateFormat : $0.keyFormat).curlName })
        // Never nil where there is a key: OpenSSL would ask at the terminal of whoever runs this.
        setSecret(CURLOPT_KEYPASSWD, identity?.passphrase)
    }

    private func setSource(_ source: TLSIdentity.Source?, _ path: CURLoption, _ blob: CURLoption) {
        switch source {
        case .path(let text)?:
            set(path, text)
            setBlob(blob, nil)
        case .data(let data)?:
            set(path, nil)
            setBlob(blob, data)
        case nil:
            set(path, nil)
            setBlob(blob, nil)
        }
    }
}

extension TLSIdentity.Format {
    fileprivate var curlName: String {
        switch self {
        case .pem: "PEM"
        case .der: "DER"
        case .pkcs12: "P12"
        }
    }
}

import TrawlHTTP
import TrawlProtocol

extension RequestOptions {
    /// What is wrong with whom it trusts, or nil.
    var trustProblem: String? {
        // Workers take what is empty for what was not given: everybody would be trusted, or whom the system trusts.
        let texts = [
            ("tls.caFile", tls.caFile), ("tls.caDirectory", tls.caDirectory), ("tls.pinFile", tls.pinFile),
            ("tls.ciphers", tls.ciphers), ("tls.ciphers13", tls.ciphers13),
            ("transport.proxyCAFile", transport.proxyCAFile),
        ]
        if let (name, _) = texts.first(where: { $0.1?.isEmpty == true }) { return "\(name) is empty" }
        if tls.caData?.isEmpty == true { return "tls.caData is empty" }
        return tls.problem
    }
}

extension RequestOptions.TLS {
    /// What workers are told.
    var terms: TLSTerms {
        var terms = TLSTerms()
        terms.verifiesPeer = verification != .none
        terms.verifiesHost = verification == .full
        terms.question =
            switch question {
            case .never: .never
            case .unlessVerified: .unlessVerified
            case .always: .always
            }
        terms.minimum = minimum.packageVersion
        terms.maximum = maximum?.packageVersion ?? .any
        terms.caFile = caFile ?? ""
        terms.caDirectory = caDirectory ?? ""
        terms.caData = caData ?? []
        terms.pins = pinFile ?? pins.map { "sha256//" + $0 }.joined(separator: ";")
        terms.ciphers = ciphers ?? ""
        terms.ciphers13 = ciphers13 ?? ""
        terms.identity = identity?.terms
        return terms
    }

    /// Whether something of it holds for one host alone, so that hops may differ.
    var isBoundToHosts: Bool {
        identity != nil || verification != .full || !identities.isEmpty || question != .never || asksForIdentity
    }

    /// Which of ``identities`` is for a target.
    func identityKey(for target: TargetURI) -> String? {
        guard !identities.isEmpty, target.isHTTPS else { return nil }
        let host = target.host
        let full = "\(host):\(target.origin.port)"
        return identities[full] != nil ? full : identities[host] != nil ? host : nil
    }

    /// What is wrong with it, or nil.
    fileprivate var problem: String? {
        for pin in pins where pin.utf8.count != 44 || !pin.utf8.allSatisfy(Self.isBase64) {
            return "a pin is the base64 form of a SHA-256 digest, not \(pin.prefix(64).description.terminalSafe)"
        }
        var texts = [caFile, caDirectory, pinFile, ciphers, ciphers13, identity?.file, identity?.keyFile]
        for (key, identity) in identities {
            // Hosts of targets are; another key would fit none.
            guard key.utf8.allSatisfy({ $0 < 0x80 }), key == key.lowercased() else {
                let name = key.prefix(64).description.terminalSafe
                return "a host of `identities` is in lower case and ASCII form, not \(name)"
            }
            texts += [identity.file, identity.keyFile]
        }
        if texts.contains(where: { $0?.utf8.contains(0) == true }) { return "a path or name of TLS holds a NUL" }
        return nil
    }

    private static func isBase64(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="):
            true
        default: false
        }
    }
}

extension RequestOptions.TLS.Version {
    fileprivate var packageVersion: TLSTerms.Version {
        switch self {
        case .tls1_0: .tls1_0
        case .tls1_1: .tls1_1
        case .tls1_2: .tls1_2
        case .tls1_3: .tls1_3
        }
    }
}

extension ClientIdentity {
    /// What is wrong with one that a program chose, or nil.
    var problem: String? {
        [file, keyFile].contains { $0?.utf8.contains(0) == true } ? "a path of a client certificate holds a NUL" : nil
    }

    fileprivate var terms: TLSIdentity {
        var terms = TLSIdentity(certificate: certificate.terms)
        terms.certificateFormat = format.packageFormat
        terms.key = key?.terms
        terms.keyFormat = keyFormat.packageFormat
        terms.passphrase = secret
        return terms
    }
}

extension ClientIdentity.Source {
    fileprivate var terms: TLSIdentity.Source {
        switch self {
        case .path(let path): .path(path)
        case .data(let data): .data(data)
        }
    }
}

extension ClientIdentity.Format {
    fileprivate var packageFormat: TLSIdentity.Format {
        switch self {
        case .pem: .pem
        case .der: .der
        case .pkcs12: .pkcs12
        }
    }
}

/// Why a hop produced no usable response, as a worker reports it.
package struct HopFailure: Error, Sendable, Hashable {
    /// What went wrong.
    package enum Kind: UInt8, Sendable, Hashable, CaseIterable {
        /// The name has no address.
        case hostNotFound = 1
        /// No address could be connected to.
        case cannotConnect
        /// TLS could not be agreed on.
        case tlsHandshake
        /// No trusted authority signed the certificate.
        case tlsUntrusted
        /// The certificate is not valid any more.
        case tlsCertificateDate
        /// The certificate names another host.
        case tlsHostMismatch
        /// The client certificate cannot be used, or the server refuses it.
        case tlsClientCertificate
        /// There was no connection in time.
        case connectTimedOut
        /// No byte in either direction for too long.
        case inactive
        /// The hop took longer than the lease allows.
        case timedOut
        /// The connection ended or broke before the response was complete.
        case connectionLost
        /// The body is shorter than its framing or coding says.
        case truncated
        /// What came is not HTTP, or breaks its rules.
        case malformedResponse
        /// The header section is over a limit of the profile.
        case headTooLarge
        /// The decoded body is over a limit of the profile.
        case bodyTooLarge
        /// A content coding is damaged or over its limits.
        case decoding
        /// A file could not be created, written or renamed; `systemError` says why.
        case file
        /// The body of the request could not be read.
        case requestBody
        /// The coordinator asked for the end.
        case cancelled
        /// The scheme is unknown or not allowed.
        case unsupportedScheme
        /// The lease cannot be made a request.
        case malformedRequest
        /// The proxy refused or broke.
        case proxy
        /// There was no memory.
        case outOfMemory
        /// A mistake of this program.
        case internalError
        /// What is stored cannot answer: it is gone, damaged, or a 304 or 206 does not go with it.
        case storedResponse
        /// The certificate is not valid yet.
        case tlsNotYetValid
        /// The certificate is signed by itself, or by a root that is not trusted.
        case tlsSelfSigned
        /// The server has none of the public keys that are accepted.
        case tlsPin
        /// The server wants a client certificate.
        case tlsClientCertificateRequired
        /// The certificate is good, and has to be accepted all the same.
        case tlsUndecided
    }

    /// What went wrong.
    package var kind: Kind
    /// libcurl's result code, 0 when it was not libcurl.
    package var curlCode: UInt32
    /// `errno`: why no connection could be made, to the server or to its proxy, or a file or the request's body not be
    /// used. 0 for all else, of which `curlCode` tells more.
    package var systemError: Int32
    /// Whether bytes of the request may have reached the server.
    package var requestSent: Bool
    /// Whether no proxy was met, where one was to be (`proxy`): it has no address, there was no connection, or that
    /// broke before it had answered. Then another may be of use.
    package var isUnmet: Bool
    /// What a person needs to act. Never a credential or a body.
    package var detail: String
    /// The server's chain in DER form, its own first, where the coordinator can still accept it: at most
    /// `WireProtocol.maximumCertificates` of `maximumCertificate` bytes.
    package var certificates: [[UInt8]] = []

    /// A failure of its parts.
    package init(
        _ kind: Kind, curlCode: UInt32 = 0, systemError: Int32 = 0, requestSent: Bool = false, isUnmet: Bool = false,
        detail: String = ""
    ) {
        self.kind = kind
        self.curlCode = curlCode
        self.systemError = systemError
        self.requestSent = requestSent
        self.isUnmet = isUnmet
        self.detail = detail
    }

    func write(to writer: inout WireWriter) {
        writer.write(kind.rawValue)
        writer.write(curlCode)
        writer.write(systemError)
        writer.write(requestSent)
        writer.write(isUnmet)
        writer.write(detail)
        writer.write(UInt8(truncatingIfNeeded: certificates.count))
        for certificate in certificates { writer.write(certificate) }
    }

    init(from reader: inout WireReader) throws(FrameError) {
        guard let kind = Kind(rawValue: try reader.byte()) else { throw .invalid(.failure) }
        self.init(
            kind, curlCode: try reader.uint32(), systemError: try reader.int32(), requestSent: try reader.bool(),
            isUnmet: try reader.bool(), detail: try reader.text())
        let count = try reader.byte()
        guard count <= WireProtocol.maximumCertificates else { throw .invalid(.failure) }
        for _ in 0..<count {
            let certificate = try reader.data()
            guard certificate.count <= WireProtocol.maximumCertificate else { throw .invalid(.failure) }
            certificates.append(certificate)
        }
    }
}

extension HopFailure.Kind {
    /// Whether a failure of this kind means that the server cannot be reached or does not answer (RFC 9111 §4.2.4).
    ///
    /// A certificate that is not trusted is no outage, nor is a limit of ours.
    package var isOutage: Bool {
        switch self {
        case .hostNotFound, .cannotConnect, .tlsHandshake, .connectTimedOut, .inactive, .timedOut, .connectionLost,
            .truncated, .malformedResponse, .proxy:
            true
        case .tlsUntrusted, .tlsCertificateDate, .tlsHostMismatch, .tlsClientCertificate, .tlsNotYetValid,
            .tlsSelfSigned, .tlsPin, .tlsClientCertificateRequired, .tlsUndecided, .headTooLarge, .bodyTooLarge,
            .decoding, .file, .requestBody, .cancelled, .unsupportedScheme, .malformedRequest, .outOfMemory,
            .internalError, .storedResponse:
            false
        }
    }
}

import TrawlCoding
import TrawlHTTP

extension Response {
    /// The body as text.
    ///
    /// A byte order mark says the charset and is no part of the text. Else JSON is UTF-8; other bodies are in the
    /// charset that `Content-Type` names, or, when it names none that is known, in ``RequestOptions/defaultCharset``. A
    /// body that came coded is decoded first, as by ``ResponseBody/decoded()``. Empty when the body went elsewhere.
    ///
    /// - Throws: ``FetchError/Code/decoding`` when the bytes are no text of that charset, when the default is needed
    ///   and unknown, or when a content coding is damaged.
    public func text() throws(FetchError) -> String {
        let bytes = try body.decodedStorage()
        return try bytes.withUnsafeBytes { (bytes) throws(FetchError) in
            guard let choice = choice(of: bytes) else { throw unknownDefault }
            do throws(TextError) {
                return try TextDecoder.decode(bytes.dropping(choice.markLength), as: choice.charset)
            } catch {
                throw FetchError(.decoding, "the body is no text in \(choice.charset.name)", url: url)
            }
        }
    }

    /// The body as text, as by ``text()``, with U+FFFD where bytes stand for no character.
    ///
    /// Of a body whose content coding is damaged it is what came through before the damage was seen. A default that is
    /// unknown is ISO-8859-1.
    public var textLossy: String {
        body.decodedAsFarAsPossible().withUnsafeBytes { bytes in
            let choice = choice(of: bytes)
            let rest = bytes.dropping(choice?.markLength ?? 0)
            do throws(TextError) {
                return try TextDecoder.decodeLossily(rest, as: choice?.charset ?? .latin1)
            } catch {
                return String(decoding: rest, as: UTF8.self)
            }
        }
    }

    /// The charset ``text()`` goes by, in small letters; nil when only the default is left and that is unknown.
    public var charset: String? {
        body.decodedAsFarAsPossible().withUnsafeBytes { choice(of: $0)?.charset.name }
    }

    private func choice(of bytes: UnsafeRawBufferPointer) -> CharsetChoice? {
        CharsetChoice(
            bytes, contentType: fields["Content-Type"], defaultLabel: defaultCharset, isKnown: TextDecoder.isKnown)
    }

    private var unknownDefault: FetchError {
        FetchError(.decoding, "the charset \(defaultCharset.terminalSafe) is not known", url: url)
    }
}

extension UnsafeRawBufferPointer {
    fileprivate func dropping(_ count: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: self[count...])
    }
}

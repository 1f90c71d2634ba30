import CTrawlCurl
import Glibc
import TrawlHTTP
import TrawlProtocol

/// One libcurl easy handle that is used again and again, with a memory of what its options are set to.
///
/// `curl_easy_reset` is never called: an option is set only when its value differs. Bound to the transfer thread.
final class EasyHandle {
    let raw: UnsafeMutableRawPointer
    /// What libcurl wrote about the last error; empty when it wrote nothing.
    let errorBuffer: UnsafeMutablePointer<CChar>
    private var longs: [UInt32: Int] = [:]
    private var strings: [UInt32: String?] = [:]
    /// The profile whose options are set.
    var profile: ResolvedProfile?
    /// The options of the request that are set.
    var shape = RequestShape()
    /// The client certificate that is set.
    var identity: TLSIdentity?
    /// Whether the callback is set that sees the TLS of each connection.
    var asksForTrust = false
    private var blobs: [UInt32: SecretBytes] = [:]
    /// The field lines that are set.
    private var fields: FieldList?
    /// The proxy that is set; nil before the first transfer.
    var proxy: ProxySetting?
    /// Where this build of libcurl looks for trusted certificates.
    let defaultCAFile: String?
    let defaultCADirectory: String?
    /// The URL as libcurl takes it without printing it anew; nil when it cannot be made.
    private let parsed: OpaquePointer?
    /// The parsed URL that is set: this one, or that of `origin`.
    private var parsedInUse: OpaquePointer?
    /// The origin that is set, when the URL is not set as a whole.
    private var origin: RequestOrigin?
    /// The origin that libcurl read last in a URL, as it stood there.
    private var originRead: [CChar] = []

    init?() {
        guard let raw = curl_easy_init() else { return nil }
        self.raw = raw
        errorBuffer = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorBuffer.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        var path: UnsafePointer<CChar>?
        _ = ccurl_get_string(raw, CURLINFO_CAINFO, &path)
        defaultCAFile = path.map { String(cString: $0) }
        path = nil
        _ = ccurl_get_string(raw, CURLINFO_CAPATH, &path)
        defaultCADirectory = path.map { String(cString: $0) }
        parsed = curl_url()
    }

    deinit {
        curl_easy_cleanup(raw)
        if let parsed { curl_url_cleanup(parsed) }
        errorBuffer.deallocate()
    }

    /// What the options of one request come to beside its URL, its fields and its body's bytes.
    struct RequestShape: Equatable {
        enum Form: Equatable { case get, head, post }
        var form = Form.get
        /// The method's token where it is not the one of the form.
        var custom: String?
        var freshConnect = false
        var forbidReuse = false
    }

    /// Sets an option that is an integer.
    func set(_ option: CURLoption, _ value: Int) {
        if longs.updateValue(value, forKey: option.rawValue) != value { _ = ccurl_set_long(raw, option, value) }
    }

    /// Sets an option that is a text; nil is libcurl's default.
    func set(_ option: CURLoption, _ value: String?) {
        if let known = strings.updateValue(value, forKey: option.rawValue), known == value { return }
        if let value {
            _ = value.withCString { ccurl_set_string(raw, option, $0) }
        } else {
            _ = ccurl_set_string(raw, option, nil)
        }
    }

    /// Sets the URL, absolute and in normal form.
    ///
    /// libcurl parses a text, writes a new one from its parts and frees that again, which takes longer than all else it
    /// does with a URL. One that is parsed already it takes as it is.
    ///
    /// - Parameter originLength: How many bytes of it name the origin that the request was made for.
    /// - Returns: CURLE_URL_MALFORMAT, too, where libcurl reads another origin: the request is none for that.
    func setURL(_ url: UnsafePointer<CChar>, originLength: Int) -> CURLcode {
        if origin != nil {
            _ = ccurl_set_string(raw, CURLOPT_REQUEST_TARGET, nil)
            origin = nil
        }
        let code = ccurl_set_string(raw, CURLOPT_URL, url)
        guard code == CURLE_OK, let parsed else { return code }
        // What is not accepted here libcurl refuses again, with a reason, when the transfer starts.
        guard curl_url_set(parsed, CURLUPART_URL, url, Self.urlFlags) == CURLUE_OK else { return setParsed(nil) }
        guard readsOrigin(of: url, length: originLength, in: parsed) else {
            _ = setParsed(nil)
            return CURLE_URL_MALFORMAT
        }
        return setParsed(parsed)
    }

    /// Whether libcurl reads the origin of a URL as it is written. It is asked when that is another than the last time.
    private func readsOrigin(of url: UnsafePointer<CChar>, length: Int, in parsed: OpaquePointer) -> Bool {
        if RequestOrigin.isWritten(originRead, in: url, length: length) { return true }
        guard let origin = RequestOrigin.text(of: parsed),
            RequestOrigin.isWritten(origin, in: url, length: length)
        else { return false }
        originRead = origin
        return true
    }

    /// Sets the URL of a request to an origin that is known: the rest of it, from its slash on, is sent as it is.
    func setTarget(_ target: UnsafePointer<CChar>, at origin: RequestOrigin) -> CURLcode {
        if self.origin !== origin {
            // libcurl goes by the text when it makes the request again on another connection.
            let code = ccurl_set_string(raw, CURLOPT_URL, origin.text)
            guard code == CURLE_OK else { return code }
            _ = setParsed(origin.url)
            self.origin = origin
        }
        return ccurl_set_string(raw, CURLOPT_REQUEST_TARGET, target)
    }

    private func setParsed(_ url: OpaquePointer?) -> CURLcode {
        if url == parsedInUse { return CURLE_OK }
        parsedInUse = url
        return ccurl_set_pointer(raw, CURLOPT_CURLU, url.map { UnsafeMutableRawPointer($0) })
    }

    /// As `setFixedOptions` has them for URLs in text.
    static let urlFlags = UInt32(CURLU_DISALLOW_USER | CURLU_PATH_AS_IS)

    /// Sets an option that is a piece of memory, of which libcurl takes a copy; nil is none.
    func setBlob(_ option: CURLoption, _ value: SecretBytes?) {
        guard blobs[option.rawValue] != value else { return }
        blobs[option.rawValue] = value
        if let value {
            _ = value.revealed.withUnsafeBytes { ccurl_set_blob(raw, option, $0.baseAddress, $0.count) }
        } else {
            _ = ccurl_set_blob(raw, option, nil, 0)
        }
    }

    /// Sets an option that is a text nobody else is to see; it is not remembered here. Nil is libcurl's default.
    func setSecret(_ option: CURLoption, _ value: SecretBytes?) {
        guard let value else {
            _ = ccurl_set_string(raw, option, nil)
            return
        }
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: value.revealed.count + 1) { text in
            text.initialize(repeating: 0)
            for (index, byte) in value.revealed.enumerated() { text[index] = CChar(bitPattern: byte) }
            _ = ccurl_set_string(raw, option, text.baseAddress)
            // In a way that no compiler leaves out.
            if let start = text.baseAddress { explicit_bzero(start, text.count) }
        }
    }

    /// Sets the field lines.
    func set(_ list: FieldList) {
        if list === fields { return }
        _ = ccurl_set_pointer(raw, CURLOPT_HTTPHEADER, list.head)
        fields = list
    }

    /// The field lines of a request whose URL is set as a whole.
    func lines(_ lines: FieldLines, hasBody: Bool) -> FieldList {
        if let fields, fields.host == nil, fields.isSame(lines, hasBody: hasBody) { return fields }
        return FieldList(lines, hasBody: hasBody)
    }

    /// Has the request go out without the `Expect` that libcurl adds by itself.
    func omitExpect() {
        guard let fields, var lines = fields.source.withUnsafeBytes({ FieldLines(packed: $0) }),
            !lines.contains("Expect")
        else { return }
        // It is not refused: the name is a token, and the value empty.
        try? lines.append("Expect", "")
        set(FieldList(lines, hasBody: fields.hasBody, host: fields.host))
    }

    /// Brings the request's form to `wanted`.
    func apply(_ wanted: RequestShape) {
        if wanted.form != shape.form {
            // Each of these switches off what the others switched on.
            switch wanted.form {
            case .get: _ = ccurl_set_long(raw, CURLOPT_HTTPGET, 1)
            case .head: _ = ccurl_set_long(raw, CURLOPT_NOBODY, 1)
            case .post: _ = ccurl_set_long(raw, CURLOPT_POST, 1)
            }
        }
        if wanted.custom != shape.custom {
            if let custom = wanted.custom {
                _ = custom.withCString { ccurl_set_string(raw, CURLOPT_CUSTOMREQUEST, $0) }
            } else {
                _ = ccurl_set_string(raw, CURLOPT_CUSTOMREQUEST, nil)
            }
        }
        if wanted.freshConnect != shape.freshConnect {
            _ = ccurl_set_long(raw, CURLOPT_FRESH_CONNECT, wanted.freshConnect ? 1 : 0)
        }
        if wanted.forbidReuse != shape.forbidReuse {
            _ = ccurl_set_long(raw, CURLOPT_FORBID_REUSE, wanted.forbidReuse ? 1 : 0)
        }
        shape = wanted
    }

    /// Has the connection closed at the end of the running transfer.
    func forbidReuse() {
        guard !shape.forbidReuse else { return }
        shape.forbidReuse = true
        _ = ccurl_set_long(raw, CURLOPT_FORBID_REUSE, 1)
    }
}

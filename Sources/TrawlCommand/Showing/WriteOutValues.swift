import Trawl
import TrawlHTTP
import TrawlURL

/// What one fetch gives to `-w`.
struct WriteOutValues: Sendable {
    var url: String
    var method: String
    /// The Referer that was sent; empty is none.
    var referer = ""
    var response: Response?
    var error: FetchError?
    var exitCode: Int32
    /// What went wrong, when it is no error of the library.
    var message = ""
    /// From when the turn of the last attempt came to the end of the fetch; zero when it never did.
    var total: Duration
    var fileName: String?
    /// What came of heads, also where there is no response.
    var seen = SeenHeads()

    /// The head of the response, or the last one without it.
    private var lastHead: Response.ResponseHead? { response?.head ?? seen.head }

    /// Where the last hop went.
    private var lastURL: String { response?.url ?? error?.url ?? url }

    /// The method of the last hop: redirects may change it (RFC 9110 §15.4).
    private var lastMethod: String {
        guard let first = Method(method) else { return method }
        let statuses = response?.redirects.map(\.status) ?? seen.redirects
        return statuses.reduce(first) { method, status in
            Redirect.next(after: UInt16(clamping: status), of: method, mode: .standard)?.0 ?? method
        }.name
    }

    /// What the hops of the last attempt took, also of a fetch that failed. In curl each attempt is a transfer of its
    /// own; so is here what follows a wait for the network, which curl does not know.
    private var hops: [HopReport] {
        let all = response?.metrics ?? error?.metrics ?? []
        return all.filter { $0.exchange == all.last?.exchange }
    }

    /// The bytes of the last body as they were transferred, content codings still on; of one that was stored, and of
    /// which nothing was transferred, as they are given out.
    private var size: UInt64 {
        if let response, response.source != .network { return response.receivedLength }
        return hops.last?.bodyBytes ?? 0
    }

    func text(_ variable: WriteOut.Variable) -> String {
        switch variable {
        case .contentType: return lastHead?.fields["Content-Type"] ?? ""
        case .errorMessage: return message.isEmpty ? error?.detail ?? "" : message
        case .exitCode: return String(exitCode)
        case .fileName: return fileName ?? ""
        case .httpCode, .responseCode: return Self.padded(lastHead?.status ?? 0, to: 3)
        case .httpVersion: return lastHead.map(Self.version) ?? "0"
        case .method: return lastMethod
        case .numberOfConnects: return String(hops.count { $0.connection != nil && !$0.reusedConnection })
        case .numberOfFields: return String(lastHead?.fields.count ?? 0)
        case .numberOfRedirects: return String(response?.redirects.count ?? seen.redirects.count)
        case .redirectURL: return lastHead.flatMap(redirectURL) ?? ""
        case .referer: return referer
        case .remoteAddress: return hops.last?.remoteAddress.map { Self.address($0).host } ?? ""
        case .remotePort: return hops.last?.remoteAddress.map { Self.address($0).port } ?? "0"
        case .scheme: return lastURL.prefix { $0 != ":" }.uppercased()
        case .sizeDownload: return String(size)
        case .sizeHeader: return String(seen.length)
        case .sizeRequest: return String(hops.reduce(UInt64(0)) { $0 &+ $1.bytesSent &- $1.bodyBytesSent })
        case .sizeUpload: return String(hops.last?.bodyBytesSent ?? 0)
        case .source: return response?.source.rawValue ?? ""
        case .speedDownload: return String(speed(size))
        case .speedUpload: return String(speed(hops.last?.bodyBytesSent ?? 0))
        case .timeAppConnect: return sum { $0.secured }
        case .timeConnect: return sum { $0.connected }
        case .timeNameLookup: return sum { $0.nameResolved }
        case .timePretransfer: return sum { $0.requestSent }
        // What brought no response, such as a proxy in place of which another was asked, led nowhere.
        case .timeRedirect:
            return Self.seconds(hops.dropLast().reduce(.zero) { $1.status == 0 ? $0 : $0 + $1.ended })
        case .timeStartTransfer: return sum { $0.firstByte }
        case .timeTotal: return Self.seconds(total)
        case .url: return url
        case .urlEffective: return lastURL
        }
    }

    /// The value of a response's field, as in `%header{name}`, in the bytes that came.
    func field(_ name: String) -> [UInt8] {
        lastHead?.fields.withFirst(name) { value -> [UInt8] in value.map { [UInt8]($0) } ?? [] } ?? []
    }

    /// Seconds until something happened, over all hops, as curl adds them up: each counts from its own start, and one
    /// where it did not happen adds nothing.
    private func sum(_ phase: (HopReport) -> Duration?) -> String {
        Self.seconds(hops.reduce(.zero) { $0 + (phase($1) ?? .zero) })
    }

    /// Bytes a second.
    private func speed(_ size: UInt64) -> UInt64 {
        let seconds = total / .seconds(1)
        return seconds > 0 ? UInt64(min(Double(size) / seconds, 1e18)) : 0
    }

    /// Where a redirect that was not followed leads; the field as it came when it leads nowhere.
    private func redirectURL(_ head: Response.ResponseHead) -> String? {
        guard (300..<400).contains(head.status), let location = head.fields.lines.reference("Location") else {
            return nil
        }
        let urls = URLParser()
        guard let base = try? urls.parse(lastURL), let target = try? urls.resolve(location, against: base) else {
            return location
        }
        return target.textWithFragment
    }

    /// The version's number; that of 1.0 is 1 in curl.
    private static func version(_ head: Response.ResponseHead) -> String {
        let number = String(head.version.drop { $0 != "/" }.dropFirst())
        return number == "1.0" ? "1" : number
    }

    /// Cuts `127.0.0.1:80` or `[::1]:80`.
    static func address(_ text: String) -> (host: String, port: String) {
        guard let colon = text.lastIndex(of: ":") else { return (text, "0") }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        return (String(host), String(text[text.index(after: colon)...]))
    }

    /// Seconds with six places after the point, as curl has them.
    static func seconds(_ duration: Duration) -> String {
        let (seconds, attoseconds) = max(.zero, duration).components
        return "\(seconds).\(padded(Int(attoseconds / 1_000_000_000_000), to: 6))"
    }

    private static func padded(_ number: Int, to width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}

import Trawl
import TrawlJSON

/// Why a request got no response, in the words of the contract of `pipe`.
struct PipeFailure: Error, Equatable {
    /// For programs to switch on; the table is in docs/pipe.md.
    let code: String
    /// For people.
    let message: String
    /// The library's own code where it says more than ours.
    let kind: String?

    /// A failure of the library's.
    ///
    /// - Parameter mayHaveBeenSent: Whether the request may have been sent.
    init(_ error: FetchError, mayHaveBeenSent: Bool) {
        let name = error.code.rawValue
        if error.isTLSFailure {
            // Whatever finer ones there are: a program relies on this one.
            code = FetchError.Code.tls.rawValue
        } else if error.code == .shutDown {
            // To who asked it is the same: the program was told to end.
            code = FetchError.Code.cancelled.rawValue
        } else {
            code = name
        }
        // By this word a program knows that it is safe to send the request again.
        let mayNotSay = error.code == .shutDown && mayHaveBeenSent
        kind = code == name || mayNotSay ? nil : name
        message = error.detail.isEmpty ? code : error.detail
    }

    /// A request that cannot be made.
    init(badRequest reason: String) {
        code = FetchError.Code.badRequest.rawValue
        message = reason
        kind = nil
    }

    /// `{"code":…,"message":…}`
    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("code")
        writer.string(code)
        writer.key("message")
        writer.string(message)
        if let kind {
            writer.key("kind")
            writer.string(kind)
        }
        writer.endObject()
    }
}

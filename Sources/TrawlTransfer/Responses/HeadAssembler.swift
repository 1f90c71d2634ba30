import Glibc
import TrawlHTTP

/// Why a head was refused.
enum HeadError: Error, Equatable {
    case malformed(StaticString)
    case tooLarge(StaticString)

    static func == (left: HeadError, right: HeadError) -> Bool {
        switch (left, right) {
        case (.malformed(let left), .malformed(let right)), (.tooLarge(let left), .tooLarge(let right)):
            left.description == right.description
        default: false
        }
    }
}

/// Collects the lines of response heads as libcurl hands them over, and parses each head when it is whole.
///
/// libcurl understands a head line by line on its own; what it and we could understand differently, where a response
/// ends, is refused here.
///
/// - Source: RFC 9112 §2.2, §4, §5.
struct HeadAssembler {
    private enum State { case start, fields, complete }

    /// Filled up to `length`. Room is made in large steps, as in `WireWriter`: for a line an array's own `append` takes
    /// several times as long as the copy.
    private var raw: [UInt8] = []
    /// Bytes of the head that was just completed.
    private(set) var length = 0
    private var state = State.start
    private var total = 0
    var maximumBytes = 300 << 10
    var maximumFields = 500
    /// Whether the heads are answers to CONNECT.
    var isOfTunnel = false

    /// Bytes of all heads since `reset`, line ends included.
    var bytes: Int { total }

    /// Whether a line is one of a trailer section, behind a whole head.
    func isTrailer(_ line: UnsafeRawBufferPointer) -> Bool { state == .complete && !Self.isStatusLine(line) }

    /// Gets ready for a new transfer.
    mutating func reset() {
        // The next head takes its memory, unless that is much.
        if raw.count > 64 << 10 { (raw, length) = ([], 0) }
        state = .start
        total = 0
    }

    /// Takes one line with its line end.
    ///
    /// - Returns: Whether a head is whole now; then `parse()` may be called.
    mutating func take(_ line: UnsafeRawBufferPointer) throws(HeadError) -> Bool {
        total += line.count
        guard total <= maximumBytes else { throw .tooLarge("the head is longer than the limit") }
        switch state {
        case .complete where Self.isStatusLine(line), .start:
            guard Self.isStatusLine(line) else { throw .malformed("the response does not start with a status line") }
            length = 0
            append(line)
            state = .fields
            return false
        case .complete:
            // A trailer field of HTTP/2; those of HTTP/1.1 are inside the raw body.
            return false
        case .fields:
            append(line)
            guard let first = line.first, first == 0x0D || first == 0x0A else { return false }
            // To libcurl that is the end of the head, whatever else is in the line (RFC 9112 §2.2: a bare CR).
            guard line.count == 1 || line.count == 2 && line[1] == 0x0A else {
                throw .malformed("a line begins with CR")
            }
            state = .complete
            return true
        }
    }

    private mutating func append(_ line: UnsafeRawBufferPointer) {
        if raw.count - length < line.count { makeRoom(line.count) }
        let start = length
        raw.withUnsafeMutableBytes { bytes in
            UnsafeMutableRawBufferPointer(rebasing: bytes[start...]).copyMemory(from: line)
        }
        length += line.count
    }

    @inline(never)
    private mutating func makeRoom(_ room: Int) {
        raw += [UInt8](repeating: 0, count: max(room, raw.count, 1 << 10))
    }

    /// The head that was just completed, and what its fields say about the body.
    func parse() throws(HeadError) -> (head: ResponseHead, facts: HeadFacts) {
        let parsed: Result<(ResponseHead, HeadFacts), HeadError> = raw.withUnsafeBytes { bytes in
            do throws(HeadError) {
                let head = UnsafeRawBufferPointer(rebasing: bytes[..<length])
                return .success(try Self.parse(head, maximumFields: maximumFields, isOfTunnel: isOfTunnel))
            } catch {
                return .failure(error)
            }
        }
        return try parsed.get()
    }

    private static func isStatusLine(_ line: UnsafeRawBufferPointer) -> Bool {
        line.count >= 5 && line[0] == 0x48 && line[1] == 0x54 && line[2] == 0x54 && line[3] == 0x50 && line[4] == 0x2F
    }

    private static func parse(
        _ bytes: UnsafeRawBufferPointer, maximumFields: Int, isOfTunnel: Bool
    ) throws(HeadError) -> (ResponseHead, HeadFacts) {
        var rest = bytes
        let (status, version, reason) = try statusLine(nextLine(&rest))
        // RFC 9110 §9.3.6: in a successful answer to CONNECT a client must ignore Content-Length and Transfer-Encoding.
        let hasFraming = !isOfTunnel || status / 100 != 2
        // A line takes two bytes more than it came with.
        var fields = FieldLines(room: rest.count + 32)
        var facts = HeadFacts()
        var isFirst = true
        while !rest.isEmpty {
            let line = nextLine(&rest)
            if line.isEmpty { break }
            if isFirst, line[0] == 0x20 || line[0] == 0x09 {
                // RFC 9112 §2.2: a recipient must reject it or drop the line; it could hide a field from a filter.
                throw .malformed("white space before the first field line")
            }
            isFirst = false
            guard let colon = firstIndex(of: 0x3A, in: line) else {
                // No field line (RFC 9112 §5); libcurl refuses it as well.
                throw .malformed("a line without a colon")
            }
            let name = UnsafeRawBufferPointer(rebasing: line[..<colon])
            let value = FieldSyntax.trimmed(UnsafeRawBufferPointer(rebasing: line[(colon + 1)...]))
            var folded: [UInt8] = []
            while let next = rest.first, next == 0x20 || next == 0x09 {
                // RFC 9112 §5.2: a user agent replaces each obs-fold with a space before it reads the value.
                if folded.isEmpty { folded.append(contentsOf: value) }
                folded.append(0x20)
                folded.append(contentsOf: FieldSyntax.trimmed(nextLine(&rest)))
            }
            if folded.isEmpty {
                try add(name, value, isFolded: false, hasFraming: hasFraming, to: &fields, &facts)
            } else {
                let failure: HeadError? = folded.withUnsafeBytes { joined in
                    do throws(HeadError) {
                        let value = FieldSyntax.trimmed(joined)
                        try add(name, value, isFolded: true, hasFraming: hasFraming, to: &fields, &facts)
                        return nil
                    } catch {
                        return error
                    }
                }
                if let failure { throw failure }
            }
            guard fields.count <= maximumFields else { throw .tooLarge("the head has more fields than the limit") }
        }
        return (ResponseHead(status: status, version: version, reason: reason, fields: fields), facts)
    }

    private static func add(
        _ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, isFolded: Bool, hasFraming: Bool,
        to fields: inout FieldLines, _ facts: inout HeadFacts
    ) throws(HeadError) {
        var name = name
        do throws(FieldLines.Refusal) {
            try fields.append(name: name, value: value)
        } catch {
            switch error {
            case .value:
                // RFC 9110 §5.5: reject the message or replace the bytes; §2.2 of RFC 9112 for a bare CR.
                throw .malformed("a field value holds CR, LF or NUL")
            case .name:
                // RFC 9112 §5.1: space before the colon has been used to have two readers see different framing.
                let trimmed = trimmedEnd(name)
                guard !hasFraming || !HeadFacts.isFraming(trimmed) else { throw .malformed("a damaged framing field") }
                // Elsewhere that space is no part of the name; what is no name without it is no field.
                guard trimmed.count < name.count, (try? fields.append(name: trimmed, value: value)) != nil else {
                    return
                }
                name = trimmed
            }
        }
        guard hasFraming || !HeadFacts.isFraming(name) else { return }
        let isFraming = try facts.note(name, value)
        // libcurl reads the unfolded line: it would see other framing than we do.
        if isFolded, isFraming { throw .malformed("a folded framing field") }
    }

    /// RFC 9112 §4: HTTP-version SP status-code SP [ reason-phrase ].
    private static func statusLine(
        _ line: UnsafeRawBufferPointer
    ) throws(HeadError) -> (UInt16, HTTPVersion, String) {
        guard line.count >= 10, isStatusLine(line) else { throw .malformed("a damaged status line") }
        let version: HTTPVersion
        var index: Int
        if line[5] == 0x31, line[6] == 0x2E, line[7] &- 0x30 < 10 {
            // RFC 9110 §2.5: a higher minor version is read as the highest one known.
            version = line[7] == 0x30 ? .http1_0 : .http1_1
            index = 8
        } else if line[5] == 0x32 {
            // Written by libcurl for HTTP/2, which has no status line (RFC 9113 §8.3.2).
            version = .http2
            index = line.count > 7 && line[6] == 0x2E ? 8 : 6
        } else {
            throw .malformed("an unknown HTTP version")
        }
        guard line.count >= index + 4, line[index] == 0x20 else { throw .malformed("a damaged status line") }
        index += 1
        var status: UInt16 = 0
        for digit in line[index..<index + 3] {
            guard digit &- 0x30 < 10 else { throw .malformed("a damaged status code") }
            status = status * 10 + UInt16(digit &- 0x30)
        }
        guard status >= 100 else { throw .malformed("a damaged status code") }
        index += 3
        guard line.count > index else {
            // Without a phrase many servers leave out the space before it too; harmless.
            return (status, version, "")
        }
        guard line[index] == 0x20 else { throw .malformed("a damaged status code") }
        let phrase = FieldSyntax.trimmed(UnsafeRawBufferPointer(rebasing: line[(index + 1)...]))
        guard FieldSyntax.isFieldValue(phrase) else { throw .malformed("a damaged reason phrase") }
        // Both are the same for ASCII, which nearly all are, and the first is made faster.
        let isASCII = phrase.allSatisfy { $0 < 0x80 }
        return (status, version, isASCII ? FieldLines.text(phrase) : FieldLines.latin1(phrase))
    }

    /// Takes the next line without its line end.
    ///
    /// RFC 9112 §2.2: a recipient may take a bare LF for the end of a line of the head, as libcurl does.
    private static func nextLine(_ rest: inout UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        let end = firstIndex(of: 0x0A, in: rest) ?? rest.count
        var line = UnsafeRawBufferPointer(rebasing: rest[..<end])
        rest = UnsafeRawBufferPointer(rebasing: rest[min(end + 1, rest.count)...])
        if line.last == 0x0D { line = UnsafeRawBufferPointer(rebasing: line[..<(line.count - 1)]) }
        return line
    }

    private static func firstIndex(of byte: Int32, in bytes: UnsafeRawBufferPointer) -> Int? {
        guard let start = bytes.baseAddress, let found = memchr(start, byte, bytes.count) else { return nil }
        return UnsafeRawPointer(found) - start
    }

    private static func trimmedEnd(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        var end = bytes.count
        while end > 0, bytes[end - 1] <= 0x20 { end -= 1 }
        return UnsafeRawBufferPointer(rebasing: bytes[..<end])
    }
}

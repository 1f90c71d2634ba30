import CTrawlCurl
import TrawlHTTP

/// The field lines of a request in the form libcurl takes them: a linked list of texts, all in one allocation.
///
/// Lines of the lease keep their order and spelling. What libcurl would add by itself and the lease does not have is
/// switched off, but for `Expect`, which an empty line of that name switches off. Lines share a text as far as libcurl
/// need not see each by itself, since it looks through all texts for each of a dozen names, and prints one after the
/// other.
final class FieldList {
    /// The packed field lines this list was made of.
    let source: [UInt8]
    let hasBody: Bool
    /// The `Host` line that it begins with; nil where that is left to libcurl.
    let host: [UInt8]?
    private let memory: UnsafeMutableRawPointer?
    /// The first node, or nil when there is no line.
    let head: UnsafeMutablePointer<curl_slist>?

    /// - Parameters:
    ///   - isForProxy: Whether the lines are for a proxy alone and go out beside those of the request.
    ///   - host: What the lines begin with as `Host`, unless they have one of their own; nil leaves it to libcurl.
    init(_ fields: FieldLines, hasBody: Bool, isForProxy: Bool = false, host: [UInt8]? = nil) {
        source = fields.packed
        self.hasBody = hasBody
        self.host = host
        var texts = LineTexts(capacity: fields.packed.count + 128)
        if isForProxy {
            // RFC 9112 appendix C.2.2: no Proxy-Connection.
            texts.switchOff("Proxy-Connection")
        } else {
            texts.switchOff("Accept")
            if hasBody { texts.switchOff("Content-Type") }
            if let host, !fields.contains("Host") {
                texts.switchOff("Host")
                host.withUnsafeBytes { texts.add("Host", $0, isAlone: false) }
            }
        }
        fields.forEach { name, value in
            guard !Self.isFraming(name) else { return }
            let value = FieldSyntax.trimmed(value)
            if value.isEmpty, FieldSyntax.equalIgnoringCase(name, "Expect") {
                // RFC 9110 §10.1.1: the empty list has no expectation, and libcurl is not to add one.
                texts.switchOff("Expect")
                return
            }
            texts.add(name, value, isAlone: isForProxy || Self.isLookedFor(name))
        }
        (memory, head) = texts.listed()
    }

    deinit {
        memory?.deallocate()
    }

    /// Whether this list says what these fields say.
    func isSame(_ fields: FieldLines, hasBody: Bool) -> Bool {
        self.hasBody == hasBody && source == fields.packed
    }

    /// Fields by which libcurl decides what to write itself; the others it looks for are switched off, or belong to
    /// options that are not used.
    private static func isLookedFor(_ name: UnsafeRawBufferPointer) -> Bool {
        FieldSyntax.equalIgnoringCase(name, "Host") || FieldSyntax.equalIgnoringCase(name, "Expect")
    }

    /// Fields whose values follow from the body, and which libcurl writes: two sources of framing never meet
    /// (RFC 9112 §6.3).
    private static func isFraming(_ name: UnsafeRawBufferPointer) -> Bool {
        FieldSyntax.equalIgnoringCase(name, "Content-Length")
            || FieldSyntax.equalIgnoringCase(name, "Transfer-Encoding")
    }
}

/// Texts of libcurl's list, each of one field line or of several, as they are made.
private struct LineTexts {
    private var bytes: [UInt8] = []
    private var starts: [Int] = []
    /// Whether the last text takes more lines.
    private var isOpen = false

    init(capacity: Int) {
        bytes.reserveCapacity(capacity)
    }

    /// Switches libcurl's own line of a name off: by the name with a colon and nothing else, before any other of that
    /// name.
    mutating func switchOff(_ name: String) {
        starts.append(bytes.count)
        isOpen = false
        bytes += name.utf8
        bytes += [UInt8(ascii: ":"), 0]
    }

    /// Adds a line.
    ///
    /// - Parameter isAlone: Whether it has a text to itself.
    mutating func add(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, isAlone: Bool) {
        // libcurl's way to send a line without a value is a semicolon at the end of the text.
        let isAlone = isAlone || value.isEmpty
        if isOpen, !isAlone {
            bytes.removeLast()
            bytes += [0x0D, 0x0A]
        } else {
            starts.append(bytes.count)
        }
        bytes += name
        if value.isEmpty {
            bytes.append(UInt8(ascii: ";"))
        } else {
            bytes += [UInt8(ascii: ":"), UInt8(ascii: " ")]
            bytes += value
        }
        bytes.append(0)
        isOpen = !isAlone
    }

    mutating func add(_ name: StaticString, _ value: UnsafeRawBufferPointer, isAlone: Bool) {
        add(UnsafeRawBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount), value, isAlone: isAlone)
    }

    /// The list, and the memory that all of it is in, which belongs to the caller.
    func listed() -> (memory: UnsafeMutableRawPointer?, head: UnsafeMutablePointer<curl_slist>?) {
        if starts.isEmpty { return (nil, nil) }
        let nodesLength = starts.count * MemoryLayout<curl_slist>.stride
        let memory = UnsafeMutableRawPointer.allocate(
            byteCount: nodesLength + bytes.count, alignment: MemoryLayout<curl_slist>.alignment)
        let nodes = memory.bindMemory(to: curl_slist.self, capacity: starts.count)
        let text = (memory + nodesLength).bindMemory(to: CChar.self, capacity: bytes.count)
        UnsafeMutableRawPointer(text).copyMemory(from: bytes, byteCount: bytes.count)
        for (index, start) in starts.enumerated() {
            let next = index + 1 < starts.count ? nodes + index + 1 : nil
            (nodes + index).initialize(to: curl_slist(data: text + start, next: next))
        }
        return (memory, nodes)
    }
}

import CCurl
import TrawlHTTP

/// The field lines of a request in the form libcurl takes them: a linked list, all in one allocation.
///
/// Lines of the lease keep their order and spelling. What libcurl would add by itself and the lease does not have is
/// switched off.
final class FieldList {
    /// The packed field lines this list was made of.
    let source: [UInt8]
    let hasBody: Bool
    private let memory: UnsafeMutableRawPointer?
    /// The first node, or nil when there is no line.
    let head: UnsafeMutablePointer<curl_slist>?

    /// - Parameter isForProxy: Whether the lines are for a proxy alone and go out beside those of the request.
    init(_ fields: FieldLines, hasBody: Bool, isForProxy: Bool = false) {
        source = fields.packed
        self.hasBody = hasBody
        var lines = 0
        var bytes = 0
        var hasAccept = false
        var hasContentType = false
        fields.forEach { name, value in
            guard !Self.isFraming(name) else { return }
            lines += 1
            bytes += name.count + value.count + 3
            if FieldSyntax.equalIgnoringCase(name, "Accept") { hasAccept = true }
            if FieldSyntax.equalIgnoringCase(name, "Content-Type") { hasContentType = true }
        }
        // A name with a colon and nothing else switches libcurl's own line of that name off.
        var off = (hasAccept ? [] : ["Accept:"]) + (hasContentType || !hasBody ? [] : ["Content-Type:"])
        // RFC 9112 appendix C.2.2: no Proxy-Connection.
        if isForProxy { off = ["Proxy-Connection:"] }
        lines += off.count
        bytes += off.reduce(0) { $0 + $1.utf8.count + 1 }
        let node = MemoryLayout<curl_slist>.stride
        guard lines > 0 else {
            memory = nil
            head = nil
            return
        }
        let memory = UnsafeMutableRawPointer.allocate(
            byteCount: lines * node + bytes, alignment: MemoryLayout<curl_slist>.alignment)
        let nodes = memory.bindMemory(to: curl_slist.self, capacity: lines)
        var text = (memory + lines * node).assumingMemoryBound(to: CChar.self)
        var index = 0
        func add(_ parts: UnsafeRawBufferPointer...) {
            (nodes + index).initialize(to: curl_slist(data: text, next: index + 1 < lines ? nodes + index + 1 : nil))
            index += 1
            for part in parts {
                if let base = part.baseAddress {
                    UnsafeMutableRawPointer(text).copyMemory(from: base, byteCount: part.count)
                }
                text += part.count
            }
            text.pointee = 0
            text += 1
        }
        fields.forEach { name, value in
            guard !Self.isFraming(name) else { return }
            let value = FieldSyntax.trimmed(value)
            if value.isEmpty {
                // libcurl's way to send a line without a value.
                withUnsafeBytes(of: UInt8(ascii: ";")) { add(name, $0) }
            } else {
                withUnsafeBytes(of: (UInt8(ascii: ":"), UInt8(ascii: " "))) { add(name, $0, value) }
            }
        }
        for line in off {
            var line = line
            line.withUTF8 { add(UnsafeRawBufferPointer($0)) }
        }
        self.memory = memory
        head = nodes
    }

    deinit {
        memory?.deallocate()
    }

    /// Whether this list says what these fields say.
    func isSame(_ fields: FieldLines, hasBody: Bool) -> Bool {
        self.hasBody == hasBody && source == fields.packed
    }

    /// Fields whose values follow from the body, and which libcurl writes: two sources of framing never meet
    /// (RFC 9112 §6.3).
    private static func isFraming(_ name: UnsafeRawBufferPointer) -> Bool {
        FieldSyntax.equalIgnoringCase(name, "Content-Length")
            || FieldSyntax.equalIgnoringCase(name, "Transfer-Encoding")
    }
}

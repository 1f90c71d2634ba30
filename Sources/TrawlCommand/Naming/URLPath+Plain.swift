import TrawlHTTP

/// The short way: most URLs are spelled as their files are, which is found out and written without a list of parts.
extension URLPath {
    /// The path when nothing in it needs a change; nil otherwise.
    static func plainPath(_ target: TargetURI) -> String? {
        var host = target.host
        return classes.withUnsafeBufferPointer { classes in
            host.withUTF8 { host in
                target.withPathAndQuery { path, query in
                    let check = PlainCheck(classes: classes)
                    guard check.isPlainHost(host), check.isPlain(path, query) else { return nil }
                    return joined(host, target.origin.explicitPort, path, query)
                }
            }
        }
    }

    private static func joined(
        _ host: UnsafeBufferPointer<UInt8>, _ port: UInt16?, _ path: UnsafeBufferPointer<UInt8>,
        _ query: UnsafeBufferPointer<UInt8>?
    ) -> String? {
        let name = UnsafeBufferPointer(start: index.utf8Start, count: path.last == 0x2F ? index.utf8CodeUnitCount : 0)
        // An underscore and five digits at most.
        let length = host.count + (port == nil ? 0 : 6) + path.count + name.count + (query.map { $0.count + 1 } ?? 0)
        guard length <= longest else { return nil }
        return String(unsafeUninitializedCapacity: length) { space in
            var end = space.update(fromContentsOf: host)
            if let port { end += append(port, to: UnsafeMutableBufferPointer(rebasing: space[end...])) }
            end = space[end...].update(fromContentsOf: path)
            end = space[end...].update(fromContentsOf: name)
            if let query {
                space[end] = UInt8(ascii: "?")
                end = space[(end + 1)...].update(fromContentsOf: query)
            }
            return end
        }
    }

    /// An underscore and the port's digits.
    /// - Returns: How many bytes that were.
    private static func append(_ port: UInt16, to space: UnsafeMutableBufferPointer<UInt8>) -> Int {
        var length = 1
        var rest = port
        repeat {
            length += 1
            rest /= 10
        } while rest > 0
        space[0] = UInt8(ascii: "_")
        rest = port
        for index in (1..<length).reversed() {
            space[index] = 0x30 + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
        return length
    }

    /// Tells URLs whose spelling is that of their file.
    private struct PlainCheck {
        let classes: UnsafeBufferPointer<UInt8>

        func isPlainHost(_ host: UnsafeBufferPointer<UInt8>) -> Bool {
            guard let first = host.first, let last = host.last, first != dot, last != dot else { return false }
            guard host.count <= longestPart else { return false }
            for byte in host where classes[Int(byte)] != kept || byte == UInt8(ascii: "_") { return false }
            return true
        }

        func isPlain(_ path: UnsafeBufferPointer<UInt8>, _ query: UnsafeBufferPointer<UInt8>?) -> Bool {
            guard path.first == 0x2F else { return false }
            var start = 1
            for index in 1..<path.count {
                let byte = path[index]
                if byte == 0x2F {
                    guard index > start, index - start <= longestPart, path[index - 1] != dot else { return false }
                    start = index + 1
                } else if classes[Int(byte)] != kept || byte == UInt8(ascii: "%") || (byte == dot && index == start) {
                    return false
                }
            }
            var last = path[path.count - 1]
            var length = path.count - start
            if length == 0 { length = URLPath.index.utf8CodeUnitCount }
            if let query {
                for byte in query where classes[Int(byte)] != kept || byte == UInt8(ascii: "%") { return false }
                last = query.last ?? 0
                length += query.count + 1
            }
            return last != dot && length <= longestPart
        }
    }
}

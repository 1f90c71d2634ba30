/// Where a worker stores what servers say about their user, and how: what many leases have in common.
///
/// Which responses may say something is a matter of each lease.
package struct StateTerms: Sendable, Hashable {
    /// The store directory; it is absolute.
    package var directory: String
    /// The name of the cookie jar, at most 255 bytes; the empty one is shared.
    package var jar = ""
    /// What cookies are marked with: half of the number of the coordinator's lifetime; 0 for none.
    package var session: UInt64 = 0
    /// Whether cookies without a time end with the session.
    package var endsSessionCookies = false

    /// The terms of the shared jar in that directory.
    package init(directory: String) {
        self.directory = directory
    }

    func write(to writer: inout WireWriter) {
        writer.write(directory)
        writer.write(jar)
        writer.write(session)
        writer.write(endsSessionCookies)
    }

    init(from reader: inout WireReader) throws(FrameError) {
        directory = try reader.text()
        guard directory.utf8.first == UInt8(ascii: "/"), !directory.utf8.contains(0) else { throw .invalid(.path) }
        jar = try reader.text()
        guard jar.utf8.count <= 255 else { throw .invalid(.length) }
        session = try reader.uint64()
        endsSessionCookies = try reader.bool()
    }
}

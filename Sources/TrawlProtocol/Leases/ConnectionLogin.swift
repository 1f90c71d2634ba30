/// Who a connection is opened as, for schemes that prove a connection and not a request: their exchange is libcurl's.
///
/// Printed in any way it says its scheme alone.
package struct ConnectionLogin: Sendable, Hashable {
    /// The schemes.
    package enum Scheme: UInt8, Sendable, Hashable {
        /// Microsoft's challenge and response.
        case ntlm = 1
        /// Kerberos by SPNEGO (RFC 4559).
        case negotiate = 2
    }

    /// The scheme.
    package var scheme: Scheme
    /// The user, with the domain before a backslash where there is one; empty stands for the ticket of the process's
    /// user.
    package var user: String
    /// The password; empty with a ticket.
    package var password: String

    /// A login of its parts.
    package init(_ scheme: Scheme, user: String, password: String) {
        self.scheme = scheme
        self.user = user
        self.password = password
    }

    static func write(_ login: ConnectionLogin?, to writer: inout WireWriter) {
        writer.write(login?.scheme.rawValue ?? 0)
        guard let login else { return }
        writer.write(login.user)
        writer.write(login.password)
    }

    static func read(from reader: inout WireReader) throws(FrameError) -> ConnectionLogin? {
        let number = try reader.byte()
        if number == 0 { return nil }
        guard let scheme = Scheme(rawValue: number) else { throw .invalid(.login) }
        return ConnectionLogin(scheme, user: try reader.text(), password: try reader.text())
    }
}

extension ConnectionLogin: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The scheme, nothing else.
    package var description: String { "\(scheme)" }
    /// The scheme, nothing else.
    package var debugDescription: String { description }
    /// A mirror that shows nothing.
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

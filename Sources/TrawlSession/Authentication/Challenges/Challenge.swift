import TrawlHTTP

/// One challenge of a server or proxy: a scheme, and a token or parameters.
///
/// Values are bytes, without the quotes and escapes they came in: a digest is computed over exactly these.
///
/// - Source: RFC 9110 §11.3.
package struct Challenge: Sendable, Hashable {
    /// A parameter; its name is in lower case.
    package struct Parameter: Sendable, Hashable {
        /// In lower case: names compare without regard to it (RFC 9110 §11.2).
        package let name: String
        /// Unquoted.
        package let value: [UInt8]
    }

    /// The scheme's name as it came.
    package let name: String
    /// The scheme, or nil when it is not one of those known here.
    package let scheme: AuthenticationScheme?
    /// What stands in the place of parameters (token68), or nil.
    package internal(set) var token: [UInt8]?
    /// The parameters in order, each name once: of several the first is kept (RFC 9110 §11.2 allows one).
    package internal(set) var parameters: [Parameter]

    /// A challenge of its parts.
    package init(name: String, token: [UInt8]? = nil, parameters: [Parameter] = []) {
        self.name = name
        scheme = AuthenticationScheme(name: name)
        self.token = token
        self.parameters = parameters
    }

    /// The value of a parameter, whose name is given in lower case, or nil.
    package func value(_ name: String) -> [UInt8]? {
        parameters.first { $0.name == name }?.value
    }

    /// The realm, or nil when there is none (RFC 9110 §11.5).
    package var realm: [UInt8]? { value("realm") }

    /// The realm as text to show, or nil.
    package var realmText: String? {
        realm.map { $0.withUnsafeBytes(FieldLines.text) }
    }
}

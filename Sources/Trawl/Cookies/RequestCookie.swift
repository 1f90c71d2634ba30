/// A cookie that a request has of its own.
public struct RequestCookie: Sendable, Hashable, Codable {
    /// The name, without `=`, `;` and control characters. Without one the value is sent as it stands.
    public var name: String
    /// The value, without control characters, and without `;` when there is a name: ``CookieText/encoded(_:)`` helps with
    /// others. Without a name it may be a list of cookies, as in `a=1; b=2`.
    public var value: String

    /// A cookie. What no cookie may hold makes the fetch fail with ``FetchError/Code/badRequest``.
    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

extension RequestCookie: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The name; never the value.
    public var description: String { name.terminalSafe }
    /// The name; never the value.
    public var debugDescription: String { description }
    /// A mirror that shows nothing else.
    public var customMirror: Mirror { Mirror(self, children: ["name": description]) }
}

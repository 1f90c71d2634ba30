/// The schemes a fetch may answer with.
package struct SchemeSet: OptionSet, Sendable, Hashable {
    /// A bit for each scheme, at the place of its number.
    package let rawValue: UInt8

    /// The schemes of those bits.
    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// One scheme.
    package init(_ scheme: AuthenticationScheme) {
        rawValue = 1 << scheme.rawValue
    }

    /// Whether a scheme is among them.
    package func allows(_ scheme: AuthenticationScheme) -> Bool {
        contains(SchemeSet(scheme))
    }

    /// Basic alone; credentials given with a request then go out before a challenge.
    package static let basic = SchemeSet(.basic)
    /// Bearer alone.
    package static let bearer = SchemeSet(.bearer)
    /// Digest alone.
    package static let digest = SchemeSet(.digest)
    /// NTLM alone.
    package static let ntlm = SchemeSet(.ntlm)
    /// Negotiate alone.
    package static let negotiate = SchemeSet(.negotiate)
    /// All but NTLM, whose hashes are as good as the password and easily broken: it has to be asked for by name.
    package static let any: SchemeSet = [.basic, .bearer, .digest, .negotiate]
}

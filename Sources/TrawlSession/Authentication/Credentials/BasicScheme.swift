/// The field value of Basic.
///
/// - Source: RFC 7617.
package enum BasicScheme {
    /// What `Authorization` or `Proxy-Authorization` is to say.
    ///
    /// User and password are sent as UTF-8 whether or not the challenge asks for it (RFC 7617 §2.1 has no other).
    ///
    /// They are sent in the form in which they were given. RFC 7617 §2.1 wants NFC where a challenge has `charset`, but
    /// the standard library has no public normalisation, and a pure target imports nothing else that has.
    package static func fieldValue(_ credentials: Credentials) throws(CredentialsFault) -> [UInt8] {
        guard case .password(let user, let password, _) = credentials.kind else { throw .kind }
        // RFC 7617 §2: the first colon ends the user's name; the password may have more.
        if user.utf8.contains(.colon) { throw .colonInUser }
        var pair: [UInt8] = Array(user.utf8)
        pair.append(.colon)
        pair.append(contentsOf: password.revealed.utf8)
        if pair.contains(where: \.isControl) { throw .controlCharacter }
        var value = Array("Basic ".utf8)
        appendBase64(pair, to: &value)
        return value
    }

    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// RFC 4648 §4.
    private static func appendBase64(_ bytes: [UInt8], to text: inout [UInt8]) {
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let count = min(3, bytes.count - start)
            var group: UInt32 = 0
            for place in 0..<3 { group = group << 8 | (place < count ? UInt32(bytes[start + place]) : 0) }
            for place in 0..<4 {
                text.append(place <= count ? alphabet[Int(group >> (18 - 6 * UInt32(place)) & 63)] : .equals)
            }
        }
    }
}

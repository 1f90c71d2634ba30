import Glibc
import Testing

/// Whom this machine asks for addresses.
enum Resolver {
    static let missing: Comment = "this machine has an address for names that nobody has, or none in time"
    /// Whether it tells soon that a name beneath `invalid` leads nowhere (RFC 6761 §6.4), found out by asking.
    static let knowsNobody: Bool = {
        let begin = ContinuousClock.now
        var found: UnsafeMutablePointer<addrinfo>?
        let result = getaddrinfo("no-such-name.invalid", "80", nil, &found)
        if let found { freeaddrinfo(found) }
        return result != 0 && ContinuousClock.now - begin < .seconds(5)
    }()
}

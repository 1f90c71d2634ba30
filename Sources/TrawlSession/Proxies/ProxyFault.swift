/// What is wrong with a proxy's URL. Never says what stands in it.
package enum ProxyFault: Error, Sendable, Hashable {
    /// The scheme is none of `http`, `https`, `socks4`, `socks4a`, `socks5` and `socks5h`.
    case scheme
    /// There is no host, or it holds what a host does not: only ASCII letters, digits, `-`, `_`, `.` or an address.
    case host
    /// What follows the colon is no number of 1 to 65,535.
    case port
    /// User or password have a control character, or a percent sign without two hexadecimal digits.
    case userInformation

    /// What a person is told.
    package var explanation: String {
        switch self {
        case .scheme: "the proxy's scheme must be http, https, socks4, socks4a, socks5 or socks5h"
        case .host: "the proxy has no usable host"
        case .port: "the proxy's port must be 1 to 65535"
        case .userInformation: "the proxy's user or password cannot be read"
        }
    }
}

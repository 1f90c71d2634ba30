/// Fields of requests whose values are credentials or stand for them (RFC 9110 §11.6.2, §11.7.2; RFC 6265 §5.4).
enum SecretFields {
    private static let names = ["authorization", "proxy-authorization", "cookie"]

    /// Whether the field of that name, in any case, is one.
    static func contains(_ name: some StringProtocol) -> Bool { names.contains(name.lowercased()) }
}

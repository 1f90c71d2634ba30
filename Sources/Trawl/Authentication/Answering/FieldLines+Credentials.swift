import TrawlHTTP
import TrawlSession

extension FieldLines {
    /// Says who a request is made as, in place of whatever is said of it so far.
    mutating func setCredentials(_ value: [UInt8], _ side: AuthenticationSide = .server) {
        removeAll(side.credentialsField)
        // Values are made of what was checked: neither name nor value can be refused.
        Array(side.credentialsField.utf8).withUnsafeBytes { name in
            value.withUnsafeBytes { try? append(name: name, value: $0) }
        }
    }
}

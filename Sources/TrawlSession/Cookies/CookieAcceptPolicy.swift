/// Which cookies are taken. What is sent does not depend on it.
package enum CookieAcceptPolicy: UInt8, Sendable, Hashable, CaseIterable {
    /// All that the rules allow.
    case always
    /// None.
    case never
    /// Those from the site of the document that a request belongs to.
    case onlyFromMainDocument
}

extension CookieRules {
    /// Whether cookies from a target are taken at all.
    ///
    /// Hosts are of one site when they have the same registrable domain (RFC 6265bis §5.2). A request that names no
    /// document is for the document itself.
    package static func accepts(_ target: CookieTarget, under conditions: CookieConditions) -> Bool {
        switch conditions.policy {
        case .always: return true
        case .never: return false
        case .onlyFromMainDocument:
            guard var document = conditions.mainDocumentHost else { return true }
            return document.withUTF8 { document in
                let document = UnsafeRawBufferPointer(document)
                return document.equals(target.host)
                    || conditions.suffixes.registrableDomain(of: document).equals(
                        conditions.suffixes.registrableDomain(of: target.host))
            }
        }
    }
}

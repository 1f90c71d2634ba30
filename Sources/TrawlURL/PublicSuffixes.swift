import CTrawlPSL

/// The list of domains under which anybody can register names, such as `com` or `co.uk`: that of libpsl.
///
/// Where the library is missing, a name is a public suffix when it has no dot.
package enum PublicSuffixes {
    /// Whether there is a list.
    package static var isListed: Bool { cpsl_is_public_suffix("com") >= 0 }

    /// Whether a domain, in lower case and ASCII form, is a public suffix.
    package static func contains(_ domain: UnsafeRawBufferPointer) -> Bool {
        let answer = withUnsafeTemporaryAllocation(of: CChar.self, capacity: domain.count + 1) { text in
            UnsafeMutableRawBufferPointer(text).copyMemory(from: domain)
            text[domain.count] = 0
            return text.baseAddress.map { cpsl_is_public_suffix($0) } ?? -1
        }
        return answer < 0 ? !domain.contains(UInt8(ascii: ".")) : answer == 1
    }
}

import Testing
import TrawlHTTP
import TrawlProtocol

@testable import TrawlTransfer

@Suite("The host that a certificate has to name")
struct LeaseHostTests {
    @Test(
        "it is the URL's, without what only the URL needs",
        arguments: [
            ("https://one.test/", "one.test"), ("https://one.test:81/a.b:c", "one.test"),
            ("https://one.test./", "one.test"), ("https://one.test.:81/", "one.test"),
            ("https://127.0.0.1/", "127.0.0.1"), ("https://[::1]/", "::1"), ("https://[::1]:81/", "::1"),
            ("https://[fe80::1%25eth0]:81/", "fe80::1"),
        ])
    func host(url: String, expected: String) {
        let lease = Lease(id: 1, profile: 0, progressIndex: 0, method: .get, url: url, fields: FieldLines())
        #expect(lease.host == expected)
    }
}

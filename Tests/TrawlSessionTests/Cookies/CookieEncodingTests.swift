import Testing

@testable import TrawlSession

@Suite("Values that no cookie can hold, ASI-COOK-05")
struct CookieEncodingTests {
    @Test(
        "encoded",
        arguments: [
            ("plain-1.2_3~!", "plain-1.2_3~!"), ("a\r\n;b", "a%0D%0A%3Bb"), ("50%", "50%25"),
            ("a b,c\"\\", "a%20b%2Cc%22%5C"),
            ("é", "%C3%A9"), ("", ""), ("a=b&c", "a=b&c"),
        ])
    func encoded(text: String, encoded: String) {
        #expect(CookieEncoding.encoded(text) == encoded)
        #expect(CookieEncoding.decoded(encoded.utf8) == Array(text.utf8))
    }

    @Test("every byte comes back")
    func roundTrip() throws {
        let bytes = Array(UInt8.min...UInt8.max)
        let text = CookieEncoding.encoded(bytes)
        #expect(CookieEncoding.decoded(text.utf8) == bytes)
        #expect(throws: Never.self) { try ManualCookie("a", text) }
    }

    @Test("a percent sign without two digits stays")
    func loose() {
        #expect(CookieEncoding.decoded("%%4%zz%41%4".utf8) == Array("%%4%zzA%4".utf8))
    }
}

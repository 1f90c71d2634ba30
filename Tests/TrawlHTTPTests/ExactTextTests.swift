import Testing
import TrawlHTTP

@Suite("Texts as keys, by their bytes")
struct ExactTextTests {
    @Test(
        "texts that are one to Unicode are two, also where one of them is ASCII",
        arguments: [
            ("\u{E9}", "e\u{301}"), ("a/\u{301}", "a/\u{341}"), ("\u{212A}", "K"), ("\u{37E}", ";"),
            ("\u{212B}", "A\u{30A}"),
        ])
    func equivalents(one: String, other: String) {
        #expect(one == other && !one.hasSameBytes(as: other))
        #expect(ExactText(one) != ExactText(other))
        #expect(Set([ExactText(one), ExactText(other), ExactText(one)]).count == 2)
    }

    @Test("the same text is one key, however it was made")
    func same() {
        let long = String(repeating: "e\u{301}", count: 100)
        let again = String(decoding: Array(long.utf8), as: UTF8.self)
        #expect(long.hasSameBytes(as: again) && ExactText(long) == ExactText(again))
        #expect([ExactText(long): 1][ExactText(again)] == 1)
        #expect(ExactText("") == ExactText("") && ExactText("a") != ExactText("ab"))
        #expect(ExactText(long).text == long)
    }
}

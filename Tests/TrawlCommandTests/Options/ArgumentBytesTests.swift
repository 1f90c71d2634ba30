import Testing

@testable import TrawlCommand

@Suite("Arguments that are not UTF-8")
struct ArgumentBytesTests {
    @Test(
        "are named by the option whose value they are",
        arguments: [
            ("x", nil, nil), ("x", "http://h/", nil), ("x", "-s", nil), ("x", "-u", "-u"), ("x", "-su", "-u"),
            ("x", "--user", "--user"), ("x", "-uname", nil), ("-ux", nil, "-u"), ("--user=x", nil, "--user"),
            ("--user=x", "-s", "--user"), ("-x", "--output", "--output"), ("--none=x", nil, nil), ("-", nil, nil),
        ] as [(String, String?, String?)])
    func names(argument: String, previous: String?, wanted: String?) {
        #expect(ArgumentBytes.name(of: argument, after: previous) == wanted.map { "the value of \($0)" })
    }
}

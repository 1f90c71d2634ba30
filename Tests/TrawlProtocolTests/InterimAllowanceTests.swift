import Testing
import TrawlHTTP
import TrawlProtocol

@Suite("How much a server may say ahead of its response")
struct InterimAllowanceTests {
    private func head(_ length: Int = 0, reason: String = "") -> ResponseHead {
        var fields = FieldLines()
        if length > 0 { try? fields.append("L", String(repeating: "x", count: length - 7)) }
        return ResponseHead(status: 103, version: .http1_1, reason: reason, fields: fields)
    }

    @Test("64 heads and no more")
    func number() {
        var allowance = InterimAllowance()
        let admitted = (0..<65).map { _ in allowance.admits(head()) }
        #expect(admitted == Array(repeating: true, count: 64) + [false])
    }

    @Test("64 KiB of fields and reason phrases, and no more")
    func bytes() {
        var allowance = InterimAllowance()
        let heads = [
            (head(65_537), false), (head(65_000), true), (head(537), false),
            (head(500, reason: "Early Hints, in all 36 bytes of this"), true), (head(reason: "x"), false),
            (head(), true),
        ]
        for (head, isAdmitted) in heads {
            let admits = allowance.admits(head)
            #expect(admits == isAdmitted)
        }
    }
}

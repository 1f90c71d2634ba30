import Testing

@testable import Trawl

@Suite("Names of status sockets")
struct StatusSocketNameTests {
    @Test("they tell their process, and other names tell none")
    func names() {
        #expect(StatusSocket.name(process: 12) == "12.sock" && StatusSocket.name(process: 12, number: 3) == "12-3.sock")
        for name in ["12.sock", "12-1.sock", "12-63.sock"] { #expect(StatusSocket.process(ofName: name) == 12) }
        for name in [
            "", ".sock", "-.sock", "12-.sock", "-1.sock", "0.sock", "x.sock", "12.sock2", "12", "1-2-3.sock", "+1.sock",
            "99999999999.sock", "١٢.sock", "12-x.sock",
        ] {
            #expect(StatusSocket.process(ofName: name) == nil, "\(name)")
        }
    }
}

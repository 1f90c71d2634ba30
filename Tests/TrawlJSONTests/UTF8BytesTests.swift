import Testing
import TrawlJSON

@Suite("Bytes that may be UTF-8, RFC 3629")
struct UTF8BytesTests {
    @Test(
        "the first that is wrong is found",
        arguments: [
            ([], nil), (Array("café €\u{1F600}\0".utf8), nil), ([0x63, 0xE9], 1), ([0x61, 0x80], 1),
            ([0x61, 0x62, 0xE2, 0x82], 2), ([0xFF, 0x61], 0),
        ] as [([UInt8], Int?)])
    func faults(bytes: [UInt8], fault: Int?) {
        bytes.withUnsafeBytes { #expect(UTF8Bytes.firstFault(in: $0) == fault) }
    }

    @Test(
        "long forms, halves of surrogate pairs and what lies beyond Unicode are not",
        arguments: [[0xC0, 0x80], [0xE0, 0x80, 0xAF], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80]] as [[UInt8]])
    func invalid(bytes: [UInt8]) {
        bytes.withUnsafeBytes { #expect(!UTF8Bytes.areValid($0)) }
    }
}

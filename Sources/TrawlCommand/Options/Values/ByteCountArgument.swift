/// A number of bytes: `1000`, `64k`, `10M`, `2G`, `1T`, by powers of 1024.
struct ByteCountArgument: Equatable {
    let bytes: UInt64

    init?(argument: String) {
        var digits = argument[...]
        var shift: UInt64 = 0
        switch digits.last {
        case "k", "K": shift = 10
        case "m", "M": shift = 20
        case "g", "G": shift = 30
        case "t", "T": shift = 40
        default: break
        }
        if shift > 0 { digits.removeLast() }
        guard !digits.isEmpty, digits.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }), let number = UInt64(digits) else {
            return nil
        }
        let (bytes, overflow) = number.multipliedReportingOverflow(by: 1 << shift)
        guard !overflow else { return nil }
        self.bytes = bytes
    }
}

/// The limits of bandwidth that a lease is under, by their numbers in the shared segment: up to three, in four bytes.
package struct LimitNumbers: Sendable, Hashable {
    /// The numbers there may be: 0 to 1,022.
    package static let count = 1023
    /// Limits that one lease may be under.
    package static let most = 3

    private static let none: UInt32 = 0x3FF
    /// Three numbers of ten bits, the first lowest; all ones is none. The two highest bits are zero.
    let packed: UInt32

    /// No limits at all.
    package static let unlimited = LimitNumbers(packed: 0x3FFF_FFFF)

    /// Those limits, of which there may be three.
    package init(_ first: Int, _ second: Int? = nil, _ third: Int? = nil) {
        func bits(_ number: Int?) -> UInt32 {
            guard let number else { return Self.none }
            precondition((0..<Self.count).contains(number), "no such limit")
            return UInt32(number)
        }
        packed = bits(first) | bits(second) << 10 | bits(third) << 20
    }

    private init(packed: UInt32) {
        self.packed = packed
    }

    init(from reader: inout WireReader) throws(FrameError) {
        packed = try reader.uint32()
        guard packed >> 30 == 0 else { throw .reservedBits }
    }

    /// The numbers, in their order.
    package var numbers: [Int] {
        stride(from: UInt32(0), to: 30, by: 10).compactMap { shift in
            let number = packed >> shift & Self.none
            return number == Self.none ? nil : Int(number)
        }
    }

    /// Whether there are none.
    package var isEmpty: Bool { self == .unlimited }
}

/// The certificate of a server that has been decided about, in DER form, where the coordinator has the last word.
package enum DecidedCertificate: Sendable, Hashable {
    /// There is none.
    case undecided
    /// It is good whatever the rules say.
    case accepted([UInt8])
    /// It is good as long as the rules have nothing against it.
    case verified([UInt8])

    func write(to writer: inout WireWriter) {
        switch self {
        case .undecided: writer.write(UInt8(0))
        case .accepted(let certificate):
            writer.write(UInt8(1))
            writer.write(certificate)
        case .verified(let certificate):
            writer.write(UInt8(2))
            writer.write(certificate)
        }
    }

    init(from reader: inout WireReader) throws(FrameError) {
        switch try reader.byte() {
        case 0: self = .undecided
        case 1: self = .accepted(try reader.data())
        case 2: self = .verified(try reader.data())
        default: throw .invalid(.certificate)
        }
    }
}

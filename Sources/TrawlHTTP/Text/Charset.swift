/// How the bytes of a text stand for its characters.
package enum Charset: Sendable, Hashable {
    case utf8
    case usASCII
    /// ISO-8859-1, in which every byte is a character.
    case latin1
    case utf16BigEndian
    case utf16LittleEndian
    /// Any other, by a name in capitals. Whether it is one is known to who converts.
    case named(String)

    /// The charset of a label, such as a `charset` parameter's value; nil when it cannot be a name at all.
    ///
    /// Labels of East Asian charsets mean the supersets that servers send under them.
    /// - Source: RFC 9110 §8.3.2: labels are compared without regard to case. RFC 2781 §4.3: UTF-16 without a byte
    ///   order mark is big-endian.
    package init?(label: String) {
        var bytes = label.utf8.map(FieldSyntax.lowercased)[...]
        while let last = bytes.last, last == 0x20 || last == 0x09 || last == 0x27 { bytes.removeLast() }
        while let first = bytes.first, first == 0x20 || first == 0x09 || first == 0x27 { bytes.removeFirst() }
        // A slash would be an instruction to the converter.
        guard !bytes.isEmpty, bytes.count <= 64, bytes.allSatisfy(Self.isNameByte) else { return nil }
        let name = String(decoding: bytes, as: UTF8.self)
        self = Self.builtIn(name) ?? .named(Self.widened(name) ?? name.uppercased())
    }

    /// The preferred name, in small letters.
    package var name: String {
        switch self {
        case .utf8: "utf-8"
        case .usASCII: "us-ascii"
        case .latin1: "iso-8859-1"
        case .utf16BigEndian: "utf-16be"
        case .utf16LittleEndian: "utf-16le"
        case .named(let name): name.lowercased()
        }
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x61...0x7A: true
        case UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: ":"), UInt8(ascii: "+"),
            UInt8(ascii: "("), UInt8(ascii: ")"):
            true
        default: false
        }
    }

    /// Names and aliases of the IANA registry for what needs no converter.
    private static func builtIn(_ name: String) -> Charset? {
        switch name {
        case "utf-8", "utf8", "csutf8", "unicode-1-1-utf-8": .utf8
        case "us-ascii", "ascii", "us", "csascii", "ansi_x3.4-1968", "ansi_x3.4-1986", "iso646-us", "iso-ir-6",
            "iso_646.irv:1991", "ibm367", "cp367":
            .usASCII
        case "iso-8859-1", "iso8859-1", "iso88591", "iso_8859-1", "iso_8859-1:1987", "iso-ir-100", "latin1", "l1",
            "ibm819", "cp819", "csisolatin1":
            .latin1
        case "utf-16", "utf16", "utf-16be", "utf16be", "csutf16", "csutf16be", "iso-10646-ucs-2", "ucs-2", "csunicode":
            .utf16BigEndian
        case "utf-16le", "utf16le", "csutf16le": .utf16LittleEndian
        default: nil
        }
    }

    private static func widened(_ name: String) -> String? {
        switch name {
        case "utf-32", "utf32", "csutf32", "ucs-4", "iso-10646-ucs-4": "UTF-32BE"
        case "shift_jis", "shift-jis", "sjis", "x-sjis", "ms_kanji", "csshiftjis", "windows-31j", "cswindows31j":
            "CP932"
        case "gb2312", "gb_2312-80", "csgb2312", "chinese", "gbk", "x-gbk", "cp936", "ms936", "windows-936": "GB18030"
        case "euc-kr", "cseuckr", "ks_c_5601-1987", "ks_c_5601-1989", "ksc5601", "ksc_5601", "korean", "windows-949":
            "UHC"
        case "big5", "cn-big5", "x-x-big5", "csbig5": "BIG5-HKSCS"
        case "x-euc-jp": "EUC-JP"
        case "x-mac-roman", "x-macroman", "mac": "MACINTOSH"
        case "iso-8859-8-i", "iso-8859-8-e": "ISO-8859-8"
        default: nil
        }
    }
}

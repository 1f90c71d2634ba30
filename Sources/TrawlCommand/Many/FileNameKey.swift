/// A file's name as a key. Names are bytes: two that are one text to Unicode are two files.
struct FileNameKey: Hashable {
    private let name: String

    init(_ name: String) { self.name = name }

    static func == (one: Self, other: Self) -> Bool { one.name.utf8.elementsEqual(other.name.utf8) }

    func hash(into hasher: inout Hasher) {
        var name = name
        name.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

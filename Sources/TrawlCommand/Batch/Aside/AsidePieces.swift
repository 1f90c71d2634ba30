/// Which pieces of the file of lines that are set aside are in use, and by how many lines.
///
/// A piece from which all lines were taken is used again, so the file is as large as what it held at one time.
struct AsidePieces {
    /// Lines in each piece that are still to be taken.
    private var lines: [UInt32] = []
    private var free: [Int] = []
    /// Pieces there may be.
    private(set) var limit: Int

    init(limit: Int) {
        self.limit = limit
    }

    /// A piece of which no line is to be taken.
    ///
    /// - Returns: Its number, and whether it is one more than there ever was; nil when all are in use.
    mutating func open() -> (piece: Int, isNew: Bool)? {
        if let piece = free.popLast() { return (piece, false) }
        guard lines.count < limit else { return nil }
        lines.append(0)
        return (lines.count - 1, true)
    }

    /// A new piece cannot be had after all: there will be no more of them than before.
    mutating func refuseNewest() {
        lines.removeLast()
        limit = lines.count
    }

    /// No line was put into the piece that was opened.
    mutating func giveBack(_ piece: Int) {
        free.append(piece)
    }

    /// Whether no line of the piece is to be taken.
    func isEmpty(_ piece: Int) -> Bool { lines[piece] == 0 }

    /// A line was put into the piece.
    mutating func added(to piece: Int) {
        lines[piece] += 1
    }

    /// A line of the piece was taken.
    ///
    /// - Parameter isOpen: Whether more lines may be put into it.
    mutating func taken(from piece: Int, isOpen: Bool) {
        lines[piece] -= 1
        if lines[piece] == 0, !isOpen { free.append(piece) }
    }
}

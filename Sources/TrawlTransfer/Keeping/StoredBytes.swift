package import TrawlProtocol

/// The bytes of a stored body, in order, verified before they are given out.
package protocol StoredBytes: AnyObject {
    /// How many there are.
    var length: UInt64 { get }
    /// Reads and checks a piece of what follows, without giving it out: for who could not take back what is given out.
    ///
    /// - Returns: How many bytes were looked at; 0 when all were, and when there are more than are worth to be read
    ///   twice.
    /// - Throws: `storedResponse` when what is stored turns out damaged.
    func inspect() throws(HopFailure) -> Int
    /// The next bytes; nil at the end.
    ///
    /// - Parameter file: A file that the bytes go to as they are, where it stands; it may come to share the stored
    ///   body's blocks.
    /// - Throws: `storedResponse` when what is stored turns out damaged.
    func next(into file: Int32?) throws(HopFailure) -> StoredPiece?
}

/// A piece of a stored body.
package enum StoredPiece {
    /// Valid until the next piece, of this or of another body, is asked for.
    case bytes(UnsafeRawBufferPointer)
    /// So many bytes are in the file already.
    case shared(Int)
}

/// For how long the heart of a worker beats in one call on a file.
struct FilePulse {
    /// The most beats of one call, one a second: an hour of them.
    ///
    /// A system keeps a fifth of its memory, as far as that is free, unwritten (Linux, sysctl/vm, `dirty_ratio`): a fifth
    /// of 128 GiB, through a network of 100 Mbit/s, is forty minutes. What takes longer is a file system that does not come
    /// back, and its worker is wanted for other files.
    static let mostBeats = 3_600

    private var call: UInt64?
    private var beats = 0

    /// Whether the heart beats at this look.
    ///
    /// - Parameter call: The number of the call that the thread is in; nil is none.
    mutating func beats(in call: UInt64?) -> Bool {
        if call != self.call {
            self.call = call
            beats = 0
        }
        guard call != nil, beats < Self.mostBeats else { return false }
        beats += 1
        return true
    }
}

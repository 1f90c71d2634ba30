extension SessionID {
    /// The identifier as two numbers, as it was made.
    package var halves: (first: UInt64, last: UInt64) { (words.0, words.1) }
}

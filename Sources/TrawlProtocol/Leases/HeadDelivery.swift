/// Which heads the coordinator wants to see, and when.
package enum HeadDelivery: UInt8, Sendable, Hashable {
    /// Inside the `ended` frame.
    case withEnd
    /// In a `head` frame as soon as it is complete; the transfer goes on.
    case early
    /// In a `head` frame; the transfer rests until the `answer` comes.
    case answered
}

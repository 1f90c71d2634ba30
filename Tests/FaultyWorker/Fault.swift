/// What a faulty worker does wrong. `Options` says when.
enum Fault: String, CaseIterable {
    /// Nothing: every lease is answered properly.
    case none

    // MARK: At once, before any greeting

    /// Exits with the status of the value.
    case exitAtStart = "exit-at-start"
    /// Sleeps without a word.
    case silent
    /// Prints a line to where the greeting belongs and exits with status 0.
    case print
    /// Sends the end of a lease in place of a greeting.
    case earlyFrame = "early-frame"
    /// Says ready in another protocol version.
    case version
    /// Says ready as another build.
    case build
    /// Says ready with another layout of the shared segment.
    case layout
    /// Says ready and says it again.
    case twoGreetings = "two-greetings"
    /// Lists its own open descriptors in the file named by `--tally`, then works properly.
    case descriptors

    // MARK: Deaths, at a lease

    /// Ends by the signal of the value.
    case crash
    /// Exits with the status of the value.
    case exit
    /// Sends half a frame, then exits with the status of the value.
    case halfFrame = "half-frame"
    /// Sends bytes that are no frame, then exits with status 0.
    case garbageThenExit = "garbage-then-exit"

    // MARK: Frames that break the protocol, at a lease

    /// Random bytes.
    case garbage
    /// A whole frame with random content.
    case randomFrame = "random-frame"
    /// A mutated frame that no longer decodes.
    case mutatedFrame = "mutated-frame"
    /// Descriptors that no frame speaks of.
    case strayDescriptors = "stray-descriptors"
    /// Two heads for one lease.
    case twoHeads = "two-heads"
    /// Two requests for one lease.
    case twoForwards = "two-forwards"
    /// A request behind the head of its response.
    case lateForwards = "late-forwards"
    /// A lease given up that nobody suspended.
    case givenUp = "given-up"
    /// A lease given up as ordered, with a file of another length than it says. Leases without an order rest.
    case shortPart = "short-part"
    /// A lease given up as ordered, with more of a body than there can be, and no file. Leases without an order rest.
    case immensePart = "immense-part"
    /// The end of a connection of which nobody wants to know.
    case unwantedClosed = "unwanted-closed"
    /// A wish for memory of a lease that is not metered.
    case unmeteredWish = "unmetered-wish"
    /// News of connections that are none; as many as the value.
    case connectionsFlood = "connections-flood"
    /// More interim heads than a worker passes on.
    case interimFlood = "interim-flood"
    /// Few interim heads, but larger ones than a worker passes on.
    case interimBulk = "interim-bulk"
    /// Data for a body that is not streamed, or more than there are credits for.
    case dataWithoutCredit = "data-without-credit"
    /// A stream that ends with another length than it had.
    case streamLength = "stream-length"
    /// An end without a head.
    case noHead = "no-head"
    /// A stop before the request, since nobody has accepted the server's certificate.
    case undecidedCertificate = "undecided-certificate"
    /// A memory file that can still change.
    case memoryUnsealed = "memory-unsealed"
    /// A memory file of another size than announced.
    case memorySize = "memory-size"
    /// A memory file above the limit of the profile.
    case memoryHuge = "memory-huge"
    /// A file on disk in place of a memory file.
    case memoryOnDisk = "memory-on-disk"
    /// A pipe in place of a memory file.
    case memoryPipe = "memory-pipe"
    /// A frame that announces a memory file and brings none.
    case memoryMissing = "memory-missing"
    /// A frame that brings two memory files where one belongs.
    case memorySurplus = "memory-surplus"
    /// A body that is not in the file the lease brought. Other leases are answered.
    case descriptorLength = "descriptor-length"
    /// A body that was dropped, and longer than any file.
    case discardedLength = "discarded-length"
    /// A body in a file nobody asked for.
    case uninvitedFile = "uninvited-file"
    /// A body in a file of another name than the lease's.
    case uninvitedName = "uninvited-name"
    /// A body in a descriptor nobody gave.
    case uninvitedDescriptor = "uninvited-descriptor"

    // MARK: Frames to be ignored, at a lease that is answered all the same

    /// The end of the lease, twice, with another body.
    case twoEnds = "two-ends"
    /// Frames of all kinds for leases that never were; as many as the value.
    case foreignLeases = "foreign-leases"
    /// An end for the lease of the same place at each of the first workers.
    case otherWorkers = "other-workers"

    // MARK: No frames

    /// Writes anything over all words of the shared segment but its header, then answers properly; with a value it exits
    /// with that status instead.
    case scribble
    /// Never ends the lease, and is well otherwise.
    case never
    /// Reads nothing for as many milliseconds as the value, as in a call on a file, then answers.
    case fileCall = "file-call"
    /// Stops itself, heartbeat and all.
    case freeze
    /// Closes its end of the socket, answers nothing and lives on, heartbeat and all.
    case closeSocket = "close-socket"
    /// Sends frames of leases that never were, without end, and its heart beats.
    case endless
    /// Works properly, but ignores the end of its socket and SIGTERM.
    case stay
    /// Answers, then sends as many mutated frames as the value, then one that no longer decodes. Counts in `--tally`.
    case campaign

    /// Whether it comes before any lease.
    var isAtStart: Bool {
        switch self {
        case .exitAtStart, .silent, .print, .earlyFrame, .version, .build, .layout, .twoGreetings, .descriptors: true
        default: false
        }
    }
}

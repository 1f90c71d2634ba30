/// The kernel's count of processes it killed for lack of memory.
package enum OutOfMemoryKills {
    /// Whether it counts those of this process's control group, whoever's limit it was (cgroup-v2, `memory.events`); one
    /// choice, so that two counts are of the same.
    private static let isOfGroup = ControlGroup.read("memory.events").flatMap(parse) != nil

    /// How many of the control group, or where the kernel does not count these, of the whole system since boot; `nil`
    /// where it says neither.
    ///
    /// A count that grew around a SIGKILL which nobody here sent names the likely cause.
    package static func count() -> UInt64? {
        (isOfGroup ? ControlGroup.read("memory.events") : SystemFile.read("/proc/vmstat")).flatMap(parse)
    }

    /// The value on the line `oom_kill N`.
    static func parse(_ text: String) -> UInt64? {
        for line in text.split(separator: "\n") where line.hasPrefix("oom_kill ") {
            return UInt64(line.dropFirst("oom_kill ".count))
        }
        return nil
    }
}

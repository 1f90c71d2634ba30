import CTrawlPlatform
import Glibc

/// The processors that this process may use.
package enum Processors {
    /// How many it may keep busy, at least one: those that it may run on (sched_setaffinity(2), also by a cpuset), and no
    /// more than its control group has time for. Found out once.
    package static let usable = max(1, min(allowed, ControlGroup.read("cpu.max").flatMap(quota) ?? .max))

    /// How many it may run on; where the system does not say, how many there are.
    static var allowed: Int {
        let count = cplatform_processors()
        return count > 0 ? Int(count) : sysconf(Int32(_SC_NPROCESSORS_ONLN))
    }

    /// For how many processors there is time by a `cpu.max`, rounded up; nil is no bound.
    ///
    /// - Parameter text: `MAX PERIOD` in microseconds, the first `max` where there is none (cgroup-v2, "CPU Interface
    ///   Files").
    static func quota(_ text: String) -> Int? {
        let words = text.split { $0 == " " || $0 == "\n" }
        guard words.count == 2, let time = Int(words[0]), let period = Int(words[1]), time > 0, period > 0 else {
            return nil
        }
        return 1 + (time - 1) / period
    }
}

import CTrawlPlatform
import Glibc

/// Wakes a thread that waits in a `Poller`, from any thread.
package final class WakeUp: Sendable {
    private let descriptor: Descriptor

    /// Not signalled.
    package init() throws(SystemError) {
        descriptor = try Descriptor.adopt(cplatform_eventfd(0), "eventfd")
    }

    /// For the poller; readable while signalled.
    package var rawValue: Int32 { descriptor.rawValue }

    /// Makes it readable. Many signals before a drain count as one.
    package func signal() {
        var one: UInt64 = 1
        // EAGAIN means the counter is full, so it is readable already; nothing else can fail on our own eventfd.
        while cplatform_write(descriptor.rawValue, &one, 8) == -Int64(EINTR) {}
    }

    /// Makes it unreadable again. Drain first, then look at the mailbox, or a signal between the two is lost.
    package func drain() {
        var count: UInt64 = 0
        while cplatform_read(descriptor.rawValue, &count, 8) == -Int64(EINTR) {}
    }
}

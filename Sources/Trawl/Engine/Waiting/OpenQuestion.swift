import TrawlHTTP

/// Something that a program is being asked while a fetch waits. A class, since few fetches have one.
final class OpenQuestion: Sendable {
    /// Unique for the life of the coordinator.
    let number: UInt64
    let about: Subject
    /// The one who asks, when it asks for this fetch alone.
    let task: Task<Void, Never>?

    init(number: UInt64, about: Subject, task: Task<Void, Never>? = nil) {
        self.number = number
        self.about = about
        self.task = task
    }

    enum Subject: Sendable {
        /// A redirect, and the lease that rests at its head; nil when it is a stored one.
        case redirect(TrawlHTTP.ResponseHead, lease: UInt64?)
        /// A server's certificate.
        case trust
        /// A client certificate.
        case identity
    }
}

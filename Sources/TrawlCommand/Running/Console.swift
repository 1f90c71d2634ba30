import Trawl

/// What a run says on standard error: what its options let through.
final class Console: Sendable {
    private let tellsFailures: Bool
    private let makesNotes: Bool

    init(_ arguments: ReportArguments) {
        tellsFailures = arguments.tellsFailures
        makesNotes = arguments.makesNotes
    }

    init(isSilent: Bool) {
        tellsFailures = !isSilent
        makesNotes = !isSilent
    }

    /// Something failed.
    func failure(_ message: String) {
        if tellsFailures { write("trawl: \(message)\n") }
    }

    /// Something a person may want to know.
    func note(_ message: String) {
        if makesNotes { write("trawl: \(message)\n") }
    }

    /// What about whom is trusted a person should know.
    func note(_ tls: RequestOptions.TLS) {
        guard tls.verification == .none else { return }
        note("-k: the certificate of the URL's host is not checked; whoever is on the way can read and change all")
    }

    /// Whole lines, as they are.
    func write(_ lines: String) { StandardError.write(lines) }
}

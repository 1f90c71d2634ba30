import TrawlHTTP
import TrawlProtocol

/// What a program is asked about servers, and what it said. One fetch asks; others that meet the same wait for what it
/// is told.
///
/// Somebody waits for just those subjects that the program has been asked about and has not answered.
struct ProgramQuestions {
    /// How many answers of each kind are remembered.
    private static let mostRemembered = 4096

    private var lastNumber: UInt64 = 0
    private var waitingForTrust: [TrustSubject: [TrustWaiter]] = [:]
    /// The certificates of servers that were decided about.
    private var decidedCertificates: [Origin: DecidedCertificate] = [:]
    private var waitingForIdentity: [Origin: [IdentityWaiter]] = [:]
    /// The client certificates that were chosen; nil in it is none.
    private var chosenIdentities: [Origin: ClientIdentity?] = [:]

    /// A number that no question has had.
    mutating func nextNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    // MARK: Certificates of servers

    /// The certificate of a server that was decided about last.
    func decided(about origin: Origin) -> DecidedCertificate { decidedCertificates[origin, default: .undecided] }

    /// A certificate is good from now on whatever the rules say, in place of any other of its server.
    mutating func accept(_ subject: TrustSubject) {
        remember(.accepted(subject.certificate), of: subject.origin)
    }

    /// A certificate is good from now on as long as the rules have nothing against it, in place of any other of its
    /// server. One that is accepted stays so.
    mutating func leaveToRules(_ subject: TrustSubject) {
        if decided(about: subject.origin) == .accepted(subject.certificate) { return }
        remember(.verified(subject.certificate), of: subject.origin)
    }

    private mutating func remember(_ certificate: DecidedCertificate, of origin: Origin) {
        if decidedCertificates.count >= Self.mostRemembered { decidedCertificates.removeAll() }
        decidedCertificates[origin] = certificate
    }

    /// Lets a fetch wait for a decision about a certificate.
    ///
    /// - Returns: Whether it is the first, so that the program has to be asked.
    mutating func wait(_ waiter: TrustWaiter, for subject: TrustSubject) -> Bool {
        waitingForTrust[subject, default: []].append(waiter)
        return waitingForTrust[subject]?.count == 1
    }

    /// The question about a certificate is over.
    ///
    /// - Returns: Those who waited for that.
    mutating func takeWaiters(for subject: TrustSubject) -> [TrustWaiter] {
        waitingForTrust.removeValue(forKey: subject) ?? []
    }

    // MARK: Certificates of ours

    /// The client certificate chosen for a server, which may be none; nil when none was chosen.
    func chosen(for origin: Origin) -> ClientIdentity?? { chosenIdentities[origin] }

    /// A client certificate, or none, is shown from now on.
    mutating func choose(_ identity: ClientIdentity?, for origin: Origin) {
        if chosenIdentities.count >= Self.mostRemembered { chosenIdentities.removeAll() }
        chosenIdentities.updateValue(identity, forKey: origin)
    }

    /// The program is to be asked again.
    mutating func forgetChoice(for origin: Origin) { chosenIdentities.removeValue(forKey: origin) }

    /// Lets a fetch wait for a client certificate.
    ///
    /// - Returns: Whether it is the first, so that the program has to be asked.
    mutating func wait(_ waiter: IdentityWaiter, for origin: Origin) -> Bool {
        waitingForIdentity[origin, default: []].append(waiter)
        return waitingForIdentity[origin]?.count == 1
    }

    /// The question about a client certificate is over.
    ///
    /// - Returns: Those who waited for that.
    mutating func takeWaiters(for origin: Origin) -> [IdentityWaiter] {
        waitingForIdentity.removeValue(forKey: origin) ?? []
    }
}

import TestSupport
import Testing
import TrawlFrontier

@Suite("A host's circuit")
struct HostCircuitTests {
    private typealias State = HostCircuit.State
    private let policy = CircuitPolicy(
        failuresInRow: 2, failureShare: 0,
        backoff: Backoff(first: .seconds(4), longest: .seconds(20), jitter: .equal))

    /// A circuit brought into a state.
    private func circuit(_ state: HostCircuit.State) -> HostCircuit {
        var circuit = HostCircuit()
        if state == .closed { return circuit }
        for _ in 0..<2 { _ = circuit.ended(.failed, by: policy, random: 1) }
        if state == .open { return circuit }
        circuit.waited()
        if state == .halfOpen { return circuit }
        _ = circuit.started()
        return circuit
    }

    private static let outcomes: [HostOutcome] = [.answered, .failed, .unknown]

    @Test("the way from closed to open, half open, probing and back")
    func life() {
        var circuit = HostCircuit()
        #expect(circuit.isFresh)
        #expect(circuit.ended(.failed, by: policy, random: 1) == .none)
        #expect(!circuit.isFresh)
        #expect(circuit.ended(.failed, by: policy, random: 1) == .open(.seconds(4)))
        #expect(circuit.state == .open)
        circuit.waited()
        #expect(circuit.state == .halfOpen)
        #expect(circuit.started() == true)
        #expect(circuit.state == .probing)
        #expect(circuit.started() == false)
        #expect(circuit.probeEnded(.answered, by: policy, random: 1) == .close)
        #expect(circuit.isFresh)
    }

    @Test("every event in every state")
    func table() {
        for state in [.closed, .open, .halfOpen, .probing] as [HostCircuit.State] {
            var waited = circuit(state)
            waited.waited()
            #expect(waited.state == (state == .open ? .halfOpen : state))

            var started = circuit(state)
            #expect(started.started() == (state == .halfOpen))
            #expect(started.state == (state == .halfOpen ? .probing : state))

            var notStarted = circuit(state)
            notStarted.probeDidNotStart()
            #expect(notStarted.state == (state == .probing ? .halfOpen : state))

            for outcome in Self.outcomes {
                var other = circuit(state)
                #expect(other.ended(outcome, by: policy, random: 1) == .none)
                #expect(other.state == state, "ends of the time before do not count")

                var probe = circuit(state)
                let action = probe.probeEnded(outcome, by: policy, random: 1)
                guard state == .probing else {
                    #expect(action == .none)
                    #expect(probe == circuit(state))
                    continue
                }
                switch outcome {
                case .answered: #expect(action == .close && probe.state == .closed)
                case .failed: #expect(action == .open(.seconds(8)) && probe.state == .open)
                case .unknown: #expect(action == .none && probe.state == .halfOpen)
                }
            }
        }
    }

    @Test("an answer ends a row of failures, what says nothing does not")
    func row() {
        var circuit = HostCircuit()
        #expect(circuit.ended(.failed, by: policy, random: 1) == .none)
        #expect(circuit.ended(.answered, by: policy, random: 1) == .none)
        #expect(circuit.ended(.failed, by: policy, random: 1) == .none)
        #expect(circuit.ended(.unknown, by: policy, random: 1) == .none)
        #expect(circuit.ended(.failed, by: policy, random: 1) == .open(.seconds(4)))
    }

    @Test("a share of the latest ends opens it, once enough are known")
    func share() {
        let policy = CircuitPolicy(failuresInRow: 0, failureShare: 0.5, shareOf: 10)
        var circuit = HostCircuit()
        var actions: [HostCircuit.Action] = []
        // One in two fails: five of the first ten.
        for number in 0..<10 {
            actions.append(circuit.ended(number % 2 == 0 ? .answered : .failed, by: policy, random: 1))
        }
        #expect(actions.dropLast().allSatisfy { $0 == .none })
        #expect(actions.last == .open(.seconds(1)))

        // One in three does not, however long.
        var other = HostCircuit()
        for number in 0..<200 {
            #expect(other.ended(number % 3 == 0 ? .failed : .answered, by: policy, random: 1) == .none)
        }
    }

    @Test("it stays open for twice as long each time, to a bound, and chance takes off at most half")
    func backoff() {
        for random in [0, 0.5, 1] {
            var circuit = circuit(.probing)
            var waits: [Duration] = []
            for _ in 0..<6 {
                guard case .open(let wait) = circuit.probeEnded(.failed, by: policy, random: random) else { break }
                waits.append(wait)
                circuit.waited()
                _ = circuit.started()
            }
            #expect(waits == [8, 16, 20, 20, 20, 20].map { .seconds($0) * (0.5 + random / 2) })
        }
    }

    @Test("it is retired after as many openings as the policy says", arguments: [0, 1, 3])
    func retire(_ most: Int) {
        var policy = policy
        policy.retiresAfter = most
        var circuit = HostCircuit()
        _ = circuit.ended(.failed, by: policy, random: 1)
        var action = circuit.ended(.failed, by: policy, random: 1)
        for _ in 0..<most {
            guard case .open = action else { break }
            circuit.waited()
            _ = circuit.started()
            action = circuit.probeEnded(.failed, by: policy, random: 1)
        }
        #expect(action == .retire)
    }

    @Test("what statuses say about a host")
    func statuses() {
        for status in [429, 502, 503, 504] as [UInt16] { #expect(HostOutcome(status: status) == .failed) }
        for status in [200, 204, 301, 304, 400, 401, 404, 408, 413, 500, 501, 505] as [UInt16] {
            #expect(HostOutcome(status: status) == .answered)
        }
        for status in [499, 500, 503, 599, 999] as [UInt16] {
            let outcome = HostOutcome(status: status, countsServerErrors: true)
            #expect(outcome == (status < 500 ? .answered : .failed))
        }
    }
}

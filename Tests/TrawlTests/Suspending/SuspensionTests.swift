import TestSupport
import Testing
import TrawlSupervision

@testable import Trawl

@Suite("Suspended fetches, every event in every state, ULS-TASK-06")
struct SuspensionTests {
    private static let lease = LeaseID(rawValue: 7)
    private static let other = LeaseID(rawValue: 8)

    private enum Place: CaseIterable {
        case running, heldWithNothing, heldWithHop, resting, givingUp, awaited

        var machine: Suspension {
            var machine = Suspension()
            switch self {
            case .running: break
            case .heldWithNothing: _ = machine.suspended(lease: nil)
            case .heldWithHop:
                _ = machine.suspended(lease: nil)
                machine.withdrawn()
            case .resting: _ = machine.suspended(lease: SuspensionTests.lease)
            case .givingUp:
                _ = machine.suspended(lease: SuspensionTests.lease)
                _ = machine.timeUp()
            case .awaited:
                _ = machine.suspended(lease: SuspensionTests.lease)
                _ = machine.timeUp()
                _ = machine.resumed()
            }
            return machine
        }
    }

    private func after<Answer>(_ place: Place, _ event: (inout Suspension) -> Answer) -> (Answer, Suspension) {
        var machine = place.machine
        let answer = event(&machine)
        return (answer, machine)
    }

    @Test("the states are told apart, and which of them hold a fetch back")
    func states() {
        let machines = Place.allCases.map(\.machine)
        for (index, machine) in machines.enumerated() {
            #expect(machines.firstIndex(of: machine) == index)
        }
        #expect(machines.map(\.isSuspended) == [false, true, true, true, true, false])
    }

    @Test("suspending")
    func suspended() {
        for lease in [nil, Self.lease] {
            let (action, machine) = after(.running) { $0.suspended(lease: lease) }
            #expect(action == (lease.map { Suspension.SuspendAction.rest($0) } ?? .withdraw))
            #expect(machine == (lease == nil ? Place.heldWithNothing : .resting).machine)
        }
        for place in [Place.heldWithNothing, .heldWithHop, .resting, .givingUp] {
            let (action, machine) = after(place) { $0.suspended(lease: Self.lease) }
            #expect(action == .none && machine == place.machine)
        }
        let (action, machine) = after(.awaited) { $0.suspended(lease: Self.lease) }
        #expect(action == .none && machine == Place.givingUp.machine)
    }

    @Test("resuming, also what is not suspended")
    func resumed() {
        let expected: [(Place, Suspension.ResumeAction, Place)] = [
            (.running, .none, .running), (.heldWithNothing, .none, .running), (.heldWithHop, .begin, .running),
            (.resting, .goOn(Self.lease), .running), (.givingUp, .none, .awaited), (.awaited, .none, .awaited),
        ]
        for (place, action, next) in expected {
            let (answer, machine) = after(place) { $0.resumed() }
            #expect(answer == action && machine == next.machine, "\(place)")
        }
    }

    @Test("a hop that is about to begin is held back, and owed")
    func begins() {
        let expected: [(Place, Bool, Place)] = [
            (.running, true, .running), (.heldWithNothing, false, .heldWithHop), (.heldWithHop, false, .heldWithHop),
            (.resting, false, .resting), (.givingUp, false, .givingUp), (.awaited, true, .awaited),
        ]
        for (place, may, next) in expected {
            let (answer, machine) = after(place) { $0.mayBegin() }
            #expect(answer == may && machine == next.machine, "\(place)")
        }
    }

    @Test("a connection is given up once, and only while it rests")
    func timeUp() {
        for place in Place.allCases {
            let (lease, machine) = after(place) { $0.timeUp() }
            #expect(lease == (place == .resting ? Self.lease : nil), "\(place)")
            #expect(machine == (place == .resting ? Place.givingUp : place).machine, "\(place)")
        }
    }

    @Test("the end of a lease, and of one that is none of its own")
    func leaseEnded() {
        let expected: [(Place, Place)] = [
            (.running, .running), (.heldWithNothing, .heldWithNothing), (.heldWithHop, .heldWithHop),
            (.resting, .heldWithNothing), (.givingUp, .heldWithNothing), (.awaited, .running),
        ]
        for (place, next) in expected {
            #expect(after(place) { $0.leaseEnded(Self.lease) }.1 == next.machine, "\(place)")
            #expect(after(place) { $0.leaseEnded(Self.other) }.1 == place.machine, "\(place)")
        }
    }

    @Test(
        "whatever happens, no hop begins while it is suspended, and none is forgotten",
        arguments: 0..<200 as Range<UInt64>)
    func sequences(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var machine = Suspension()
        var (isSuspended, isOwed) = (false, false)
        var lease: LeaseID?
        var serial: UInt64 = 0
        func begin() {
            guard machine.mayBegin() else {
                isOwed = true
                #expect(isSuspended, "seed \(seed)")
                return
            }
            #expect(!isSuspended, "seed \(seed)")
            serial += 1
            lease = LeaseID(rawValue: serial)
        }
        begin()
        for _ in 0..<60 {
            switch Int.random(in: 0..<5, using: &random) {
            case 0:
                switch machine.suspended(lease: lease) {
                case .rest(let rested): #expect(rested == lease, "seed \(seed)")
                case .withdraw, .none: break
                }
                isSuspended = true
            case 1:
                let action = machine.resumed()
                isSuspended = false
                if case .goOn(let woken) = action { #expect(woken == lease, "seed \(seed)") }
                #expect((action == .begin) == isOwed, "seed \(seed)")
                if isOwed {
                    isOwed = false
                    begin()
                }
            case 2:
                if let given = machine.timeUp() { #expect(given == lease && isSuspended, "seed \(seed)") }
            default:
                guard let ended = lease else { continue }
                lease = nil
                machine.leaseEnded(ended)
                begin()
            }
            #expect(machine.isSuspended == isSuspended, "seed \(seed)")
        }
    }
}

@Suite("What the caller of a fetch says about it")
struct FetchControlTests {
    @Test("suspensions nest, and more resumptions than those do no harm")
    func nesting() {
        let control = FetchControl(id: 1)
        #expect(!control.isSuspended && !control.resume())
        #expect(control.suspend() && !control.suspend() && control.isSuspended)
        #expect(!control.resume() && control.isSuspended)
        #expect(control.resume() && !control.isSuspended)
        #expect(!control.resume() && control.suspend())
    }

    @Test("one that starts suspended is resumed once")
    func starts() {
        let control = FetchControl(id: 1, isSuspended: true)
        #expect(control.isSuspended && control.resume() && !control.isSuspended)
    }
}

import Glibc

/// What a faulty worker does, and when; see README.md.
struct Options {
    /// Why the command line cannot be used.
    struct Problem: Error {
        let message: String
    }

    var fault = Fault.none
    /// What the fault needs: a status, a signal, a count.
    var value = 0
    /// Worker slots in which the fault happens; nil is all.
    var slots: Set<UInt32>?
    /// The last generation in which the fault happens.
    var lastGeneration = UInt32.max
    /// How many leases come before the fault.
    var after = 0
    /// The fault happens at leases whose URL holds this.
    var pattern = ""
    /// Whether the first generation keeps proper leases unanswered until the fault.
    var holds = false
    /// Whether a byte of each request is said to have been sent.
    var marksSent = false
    /// Seconds until the process ends by itself.
    var lifetime: UInt32 = 300
    /// A file to append counts to.
    var tally: String?
    var seed: UInt64 = 1

    init(_ arguments: some Sequence<String>) throws(Problem) {
        var rest = Array(arguments)[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--slot": slots = (slots ?? []).union([UInt32(try Self.number(&rest, argument))])
            case "--generations": lastGeneration = UInt32(try Self.number(&rest, argument))
            case "--after": after = try Self.number(&rest, argument)
            case "--on": pattern = try Self.text(&rest, argument)
            case "--hold": holds = true
            case "--sent": marksSent = true
            case "--lifetime": lifetime = UInt32(try Self.number(&rest, argument))
            case "--tally": tally = try Self.text(&rest, argument)
            case "--seed": seed = UInt64(try Self.number(&rest, argument))
            default:
                if let known = Fault(rawValue: argument) {
                    fault = known
                } else if let number = Int(argument) {
                    value = number
                } else {
                    throw Problem(message: "what is \(argument)?")
                }
            }
        }
    }

    private static func text(_ rest: inout ArraySlice<String>, _ name: String) throws(Problem) -> String {
        guard let text = rest.popFirst() else { throw Problem(message: "\(name) needs a value") }
        return text
    }

    private static func number(_ rest: inout ArraySlice<String>, _ name: String) throws(Problem) -> Int {
        guard let number = Int(try text(&rest, name)), number >= 0 else {
            throw Problem(message: "\(name) needs a number")
        }
        return number
    }
}

import Glibc

/// What the command line asked for.
struct Options: Sendable {
    /// Why the command line cannot be used; also carries the help text.
    struct Problem: Error {
        var message: String
        var isHelp = false
    }

    /// The four octets of the first address listened on; always in 127.0.0.0/8.
    var octets: [UInt8] = [127, 0, 0, 1]
    /// How many addresses, counting up from the first, share the port.
    var addressCount = 1
    /// 0 lets the kernel choose.
    var port: UInt16 = 0
    /// Requests are appended to this file as NDJSON.
    var logPath: String?
    /// The process ends by itself after this long.
    var lifetimeSeconds = 3600
    /// A connection without traffic for this long is closed.
    var idleSeconds = 300
    /// Connections beyond this number are answered 503 and closed.
    var maxConnections = 2048
    var endsWithStandardInput = true

    var firstAddress: String { address(0) }

    /// The n-th address listened on, in dotted form.
    func address(_ index: Int) -> String {
        "\(octets[0]).\(octets[1]).\(octets[2]).\(Int(octets[3]) + index)"
    }

    init(arguments: [String]) throws(Problem) {
        var rest = arguments[...]
        while let name = rest.popFirst() {
            switch name {
            case "--no-stdin": endsWithStandardInput = false
            case "--help", "-h": throw Problem(message: Options.help, isHelp: true)
            case "--log": logPath = try Options.value(of: name, from: &rest)
            case "--address": octets = try Options.loopback(try Options.value(of: name, from: &rest))
            case "--port": port = UInt16(try Options.number(of: name, from: &rest, in: 0...65535))
            case "--addresses": addressCount = try Options.number(of: name, from: &rest, in: 1...200)
            case "--lifetime": lifetimeSeconds = try Options.number(of: name, from: &rest, in: 1...86_400)
            case "--idle": idleSeconds = try Options.number(of: name, from: &rest, in: 1...86_400)
            case "--max-connections": maxConnections = try Options.number(of: name, from: &rest, in: 1...8192)
            default: throw Problem(message: "unknown argument \(name)\n\(Options.help)")
            }
        }
        guard Int(octets[3]) + addressCount - 1 <= 254 else { throw Problem(message: "too many addresses") }
    }

    private static let help = """
        usage: LoopbackOrigin [--address 127.0.0.1] [--addresses N] [--port 0] [--log FILE] [--lifetime SECONDS]
                              [--idle SECONDS] [--max-connections N] [--no-stdin]
        Prints "listening ADDRESS:PORT" and serves until standard input ends, SIGTERM or SIGINT.
        """

    private static func value(of name: String, from rest: inout ArraySlice<String>) throws(Problem) -> String {
        guard let value = rest.popFirst() else { throw Problem(message: "\(name) needs a value") }
        return value
    }

    private static func number(
        of name: String, from rest: inout ArraySlice<String>, in range: ClosedRange<Int>
    ) throws(Problem) -> Int {
        let text = try value(of: name, from: &rest)
        guard let number = Int(text), range.contains(number) else {
            throw Problem(message: "\(name) needs a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    private static func loopback(_ text: String) throws(Problem) -> [UInt8] {
        let octets = text.split(separator: ".", omittingEmptySubsequences: false).compactMap { UInt8($0) }
        guard octets.count == 4, octets[0] == 127, octets[3] >= 1 else {
            throw Problem(message: "--address must be in 127.0.0.0/8")
        }
        return octets
    }
}

import TrawlHTTP

/// Reads lists of challenges and of parameters. One pass, each byte looked at a bounded number of times.
///
/// Strict where leniency could give a parameter to the wrong challenge: after an element that cannot be read,
/// parameters belong to nobody until the next scheme. Lenient about what changes no meaning: spare commas and spaces,
/// parameters without a comma between them, values that should have been quoted.
///
/// - Source: RFC 9110 §11.2 (parameters), §11.3 (challenges), §5.6.1.2 (lists with empty elements).
struct ChallengeParser {
    private let limits: ChallengeLimits
    private var challenges: [Challenge] = []
    /// Whether parameters that come next belong to the last challenge.
    private var isOpen = false
    private var bytesLeft: Int
    private var isCut = false

    init(limits: ChallengeLimits) {
        self.limits = limits
        bytesLeft = limits.bytes
    }

    mutating func finish() -> (challenges: [Challenge], isCut: Bool) {
        (challenges, isCut)
    }

    /// Reads one field line.
    mutating func read(_ line: UnsafeRawBufferPointer) {
        // A line that does not fit is left out whole: half of one could mean something else.
        guard line.count <= bytesLeft, !isCut else {
            isCut = true
            isOpen = false
            return
        }
        bytesLeft -= line.count
        var scanner = ParameterScanner(line)
        while scanner.skipToElement(), !isCut {
            let name = scanner.token()
            let spaces = scanner.skipSpaces()
            if name.isEmpty {
                fail(&scanner)
            } else if scanner.isAtElementEnd {
                begin(name, token: nil)
            } else if scanner.next == .equals {
                // RFC 9110 §11.2: spaces may stand around the sign.
                take(name, &scanner)
            } else if spaces > 0 {
                if let token = scanner.token68() {
                    begin(name, token: token)
                } else {
                    begin(name, token: nil)
                    let parameter = scanner.token()
                    scanner.skipSpaces()
                    if !parameter.isEmpty, scanner.next == .equals {
                        take(parameter, &scanner)
                    } else {
                        fail(&scanner)
                    }
                }
            } else {
                fail(&scanner)
            }
        }
        if isCut { isOpen = false }
    }

    /// The parameters in all lines of a field that holds nothing else, as `Authentication-Info` (RFC 9110 §11.6.3).
    static func parameters(of field: String, in fields: FieldLines) -> [Challenge.Parameter] {
        var parser = ChallengeParser(limits: ChallengeLimits())
        // A challenge without a name takes them.
        parser.challenges = [Challenge(name: "")]
        parser.isOpen = true
        fields.forEach { name, value in
            if FieldSyntax.equalIgnoringCase(name, field) { parser.read(value) }
        }
        return parser.challenges[0].parameters
    }

    private mutating func begin(_ name: UnsafeRawBufferPointer, token: UnsafeRawBufferPointer?) {
        guard challenges.count < limits.challenges else {
            isCut = true
            return
        }
        challenges.append(Challenge(name: FieldLines.latin1(name), token: token.map { Array($0) }))
        // RFC 9110 §11.3: a token or parameters, not both.
        isOpen = token == nil
    }

    /// Reads what follows a parameter's name, and further parameters that stand behind it without a comma.
    private mutating func take(_ first: UnsafeRawBufferPointer, _ scanner: inout ParameterScanner) {
        var name = first
        while true {
            scanner.skip()
            scanner.skipSpaces()
            guard let value = scanner.value() else { return fail(&scanner) }
            add(name, value)
            let spaces = scanner.skipSpaces()
            if scanner.isAtElementEnd { return }
            name = scanner.token()
            scanner.skipSpaces()
            guard spaces > 0, !name.isEmpty, scanner.next == .equals else { return fail(&scanner) }
        }
    }

    private mutating func add(_ name: UnsafeRawBufferPointer, _ value: [UInt8]) {
        guard isOpen, let last = challenges.indices.last, value.count <= limits.valueBytes else { return }
        guard challenges[last].parameters.count < limits.parameters else { return }
        let name = FieldLines.latin1(name).lowercased()
        if challenges[last].value(name) == nil {
            challenges[last].parameters.append(Challenge.Parameter(name: name, value: value))
        }
    }

    /// Leaves an element that cannot be read.
    private mutating func fail(_ scanner: inout ParameterScanner) {
        isOpen = false
        scanner.skipElement()
    }
}

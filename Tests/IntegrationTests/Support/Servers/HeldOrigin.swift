/// An origin that keeps its answers, or their ends, back until the test has seen what it waits for.
///
/// To be stopped at the end, whatever the test has seen: threads of the origin wait for it.
struct HeldOrigin {
    private let origin: ScriptedOrigin
    private let occasion: Occasion

    private init(_ occasion: Occasion, _ answering: @escaping @Sendable () -> ScriptedOrigin.Answer) throws {
        self.occasion = occasion
        origin = try ScriptedOrigin { _ in answering() }
    }

    /// One whose answers come whole, when it is let go.
    init() throws {
        let occasion = Occasion()
        try self.init(occasion) {
            occasion.wait()
            return ScriptedOrigin.Answer(200, "there")
        }
    }

    /// One whose answers come at once, but for what is behind so many bytes of their body.
    init(_ body: [UInt8], behind count: Int, _ fields: [(String, String)] = []) throws {
        let occasion = Occasion()
        var answer = ScriptedOrigin.Answer(200, "", fields)
        answer.body = Array(body[..<count])
        answer.rest = (Array(body[count...]), occasion)
        try self.init(occasion) { [answer] in answer }
    }

    /// The URL of a target.
    func url(_ target: String = "/") -> String { origin.url(target) }

    /// How many requests there were.
    var count: Int { origin.seen().count }

    /// From now on nothing is kept back.
    func letGo() { occasion.open() }

    func stop() {
        letGo()
        origin.stop()
    }
}

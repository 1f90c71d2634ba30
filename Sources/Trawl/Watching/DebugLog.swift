/// What a coordinator tells about its work step by step, for those who look for a mistake (ASI-MISC-04, ASI-THR-08,
/// ASI-CONN-05, ASI-AUTH-18).
///
/// Credentials, cookies, queries and bodies are in no message, and no message can drive a terminal.
public struct DebugLog: Sendable {
    /// Kinds of messages.
    public struct Categories: OptionSet, Sendable, Hashable {
        /// One bit for each.
        public let rawValue: Int
        /// Those of the bits.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// What becomes of each fetch: started, sent to a worker, head, request and response passed, redirect,
        /// further attempt, end.
        public static let status = Categories(rawValue: 1)
        /// Which connection each hop used, whether it was used before, idle ones that close, and workers that take
        /// theirs along.
        public static let connections = Categories(rawValue: 2)
        /// What passed of what may, whenever something did and there is a limit of all fetches together; who waits.
        public static let throttle = Categories(rawValue: 4)
        /// Who asks who we are, by which schemes and for which realm, and what is answered from which source; why a
        /// vault has not kept what works.
        public static let authentication = Categories(rawValue: 8)
    }

    /// What is told.
    public var categories: Categories
    /// Is told one line without its end, on the engine's own thread: it must not wait, nor ask the coordinator
    /// anything.
    public var handler: @Sendable (String) -> Void

    /// A log.
    public init(_ categories: Categories, _ handler: @escaping @Sendable (String) -> Void) {
        self.categories = categories
        self.handler = handler
    }
}

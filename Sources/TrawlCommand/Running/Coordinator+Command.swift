import Trawl

extension Coordinator {
    /// Starts the workers of a command; what makes that impossible becomes a message and an exit status.
    static func started(_ configuration: Configuration) throws(CommandError) -> Coordinator {
        do throws(FetchError) {
            return try Coordinator(configuration)
        } catch {
            let status =
                switch error.code {
                case .badRequest: ExitStatus.usage
                case .file: ExitStatus.cannotCreate
                default: ExitStatus.engineDown
                }
            throw CommandError(FailureText.of(error), status: status)
        }
    }
}

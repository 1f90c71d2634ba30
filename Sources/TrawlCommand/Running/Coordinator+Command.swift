import Trawl

extension Coordinator {
    /// Starts the workers of a command; what makes that impossible becomes a message and an exit status.
    ///
    /// - Parameter console: Told what is done otherwise than it was asked for.
    static func started(_ configuration: Configuration, _ console: Console) throws(CommandError) -> Coordinator {
        var configuration = configuration
        if let note = DescriptorLimit.fit(&configuration) { console.note(note) }
        configuration.debugLog?.handler = { console.write("trawl: \($0)\n") }
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

import Trawl

extension Coordinator {
    /// Starts the workers of a command; what makes that impossible becomes a message and an exit status.
    ///
    /// - Parameter console: Told what is done otherwise than it was asked for.
    static func started(_ configuration: Configuration, _ console: Console) throws(CommandError) -> Coordinator {
        var configuration = configuration
        if let note = DescriptorLimit.fit(&configuration) ?? RunSetup.shortage(of: configuration) {
            console.note(note)
        }
        configuration.debugLog?.handler = { console.write("trawl: \($0)\n") }
        do throws(FetchError) {
            let coordinator = try Coordinator(configuration)
            // Once, however many fetches wait.
            coordinator.onNetworkWait { isWaiting in
                console.note(isWaiting ? "there is no network; waiting for it" : "the network is back")
            }
            return coordinator
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

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
            let name = option(behind: error, in: configuration).map { $0 + ": " } ?? ""
            throw CommandError(name + FailureText.of(error), status: status)
        }
    }

    /// The option that names the file of a failure; nil when none does. The library knows files alone.
    private static func option(behind failure: FetchError, in configuration: Configuration) -> String? {
        guard failure.code == .file else { return nil }
        var files: [(option: String, path: String)] = []
        if let path = configuration.hstsFile { files.append(("--hsts", path)) }
        if case .path(let path) = configuration.statusSocket { files.append((WatchArguments.socketOption, path)) }
        if let file = configuration.metricsFile { files.append((WatchArguments.metricsOption, file.path)) }
        return files.first { failure.detail.hasPrefix($0.path.terminalSafe + ": ") }?.option
    }
}

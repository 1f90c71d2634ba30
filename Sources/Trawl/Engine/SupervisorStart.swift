import TrawlPlatform

/// What a supervisor needs, made on the caller's thread so that failures are the caller's to see.
struct SupervisorStart: Sendable {
    let configuration: Configuration
    let mailbox: Mailbox
    let poller: Poller
    let segment: SharedSegment
    let meter = BandwidthMeter()
    /// What callers answer themselves from the cache.
    let callerCounts = CallerCounts()
    /// Left at the end for those that look on.
    let lastSnapshot = LastSnapshot()
    let shares = BandwidthShares()
    /// Nil in in-process mode.
    let executable: WorkerExecutable?
    /// Checks requests that programs make while fetches run.
    let planner: FetchPlanner
    /// Told when the session's credentials change.
    let credentialState: CredentialState
    /// What the vault is asked and told.
    let vaultWork = VaultWork()
    /// Asks proxy scripts.
    let scripts: ProxyScripts
    /// What the network is.
    let network: CoordinatorNetwork
    /// Worker slots: at least one.
    let slots: Int
    /// The output directories, held open so that workers that start later find the same.
    let outputRoots: [HeldDirectory]

    init(
        _ configuration: Configuration, mailbox: Mailbox, planner: FetchPlanner, _ credentialState: CredentialState
    ) throws(FetchError) {
        self.credentialState = credentialState
        self.configuration = configuration
        self.mailbox = mailbox
        self.planner = planner
        scripts = ProxyScripts(configuration, planner: planner, mailbox: mailbox)
        network = CoordinatorNetwork(configuration.network)
        slots = max(1, configuration.workers)
        executable = configuration.workers == 0 ? nil : try WorkerExecutable(configuration)
        var outputRoots: [HeldDirectory] = []
        for directory in configuration.outputDirectories {
            do throws(SystemError) {
                outputRoots.append(try HeldDirectory(path: directory))
            } catch {
                throw FetchError.file(directory, error.errno)
            }
        }
        self.outputRoots = outputRoots
        do {
            poller = try Poller()
            segment = try SharedSegment.create(workers: slots, transfersPerWorker: configuration.transfersPerWorker)
        } catch let error as SystemError {
            throw FetchError(.engineDown, "\(error)", cause: .system(error.errno))
        } catch {
            throw FetchError(.engineDown, "the shared segment cannot be made: \(error)")
        }
    }
}

import Trawl

/// Says once what a run goes on without.
struct RunWarnings {
    private var isCacheTold = false
    private var isScriptTold = false
    private var isMetricsTold = false

    /// To be called when there may have been a fetch.
    mutating func tell(_ coordinator: Coordinator, on console: Console) {
        if !isCacheTold, let problem = coordinator.cacheProblem {
            isCacheTold = true
            console.note("the cache is not used: \(problem.detail.terminalSafe)")
        }
        if !isScriptTold, let problem = coordinator.proxyScriptProblem {
            isScriptTold = true
            console.note("no proxy is used where the script should say one: \(problem.detail.terminalSafe)")
        }
        if !isMetricsTold, let problem = coordinator.metricsProblem {
            isMetricsTold = true
            console.note("metrics cannot be written: \(problem.detail.terminalSafe)")
        }
    }

    /// To be called after the shutdown: what was to be remembered and is not.
    ///
    /// - Parameter configuration: The coordinator's.
    static func tellLosses(of coordinator: Coordinator, _ configuration: Configuration, on console: Console) {
        if let helper = configuration.vault as? HelperVault, let problem = helper.problem {
            console.note("--credential-helper: \(problem)")
        }
        if let problem = coordinator.cookies.problem {
            console.note("not all cookies and secure hosts are known or kept: \(problem.detail.terminalSafe)")
        }
        if let problem = coordinator.secureHostsProblem {
            console.note("--hsts: \(problem.detail.terminalSafe)")
        }
    }
}

import ArgumentParser
import Glibc
import TrawlHTTP
import TrawlPlatform
import TrawlWatch

/// Which runs are looked at.
struct WatchedArgument: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "The number of a process, or the path of a status socket. Default: all runs of this user.",
            valueName: "pid|socket"), completion: .file())
    var run: String?

    func validate() throws {
        if run?.isEmpty == true { throw ValidationError("the name of the run is empty") }
    }
}

/// What all the runs that are looked at said.
struct WatchedRuns {
    /// Those that answered.
    private(set) var reports: [StatusReport] = []
    /// What the others did.
    private(set) var failures: [(message: String, status: Int32)] = []

    private init() {}

    /// Asks those that an argument names, one after the other, and waits for what they say.
    ///
    /// - Parameter patience: How long each may take.
    static func asking(_ argument: WatchedArgument, patience: Duration = .seconds(3)) -> WatchedRuns {
        var runs = WatchedRuns()
        runs.ask(argument, patience)
        return runs
    }

    private mutating func ask(_ argument: WatchedArgument, _ patience: Duration) {
        guard let name = argument.run else {
            ask(RunningTrawl.all(), isNamed: false, patience)
            return
        }
        if let process = Int32(name) {
            let runs = RunningTrawl.all(of: process)
            if runs.isEmpty {
                failures.append(("\(process): nothing that tells its status runs there", ExitStatus.someFailed))
            }
            ask(runs, isNamed: true, patience)
            return
        }
        do throws(RunningTrawl.Failure) {
            ask([try RunningTrawl(path: name)], isNamed: true, patience)
        } catch {
            failures.append((error.message(name), error.status))
        }
    }

    /// The exit status, for who wanted to know.
    var status: Int32 { failures.first?.status ?? (reports.isEmpty ? ExitStatus.someFailed : ExitStatus.success) }

    private mutating func ask(_ runs: [RunningTrawl], isNamed: Bool, _ patience: Duration) {
        for run in runs {
            do throws(RunningTrawl.Failure) {
                reports.append(try run.report(patience: patience))
            } catch {
                // One that ended meanwhile, or was killed before, is none of those that run.
                if error == .none, !isNamed { continue }
                failures.append((error.message(run.path), error.status))
            }
        }
    }
}

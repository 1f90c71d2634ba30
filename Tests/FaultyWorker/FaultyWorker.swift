import Glibc
import TrawlPlatform
import TrawlProtocol

/// A worker executable that misbehaves as its arguments say, for tests of the coordinator.
///
/// It fetches nothing: a lease that is answered properly gets a response whose body is its URL. README.md lists the
/// arguments. The process ends by SIGALRM after its lifetime, so that it outlives no test for long.
@main
enum FaultyWorker {
    static func main() {
        do throws(Options.Problem) {
            let options = try Options(CommandLine.arguments.dropFirst())
            alarm(options.lifetime)
            Session(options).run()
        } catch {
            die(error.message)
        }
    }
}

import Glibc

/// The command: a loopback HTTP/1.1 origin that answers well or badly, as the URL asks.
///
/// It is for tests. It listens on 127.0.0.0/8 alone, uses blocking sockets and one small thread per connection, and
/// shares no code with the product, so that a mistake in one is not repeated in the other. All bodies are
/// deterministic. README.md lists the endpoints.
@main
enum OriginCommand {
    static func main() {
        let options: Options
        do throws(Options.Problem) {
            options = try Options(arguments: Array(CommandLine.arguments.dropFirst()))
        } catch {
            say("LoopbackOrigin: \(error.message)\n", on: 2)
            exit(error.isHelp ? 0 : 2)
        }
        _ = signal(SIGPIPE, SIG_IGN)
        // Blocked before any thread starts, so that only `sigtimedwait` below ever takes them.
        var ending = sigset_t()
        sigemptyset(&ending)
        sigaddset(&ending, SIGTERM)
        sigaddset(&ending, SIGINT)
        pthread_sigmask(SIG_BLOCK, &ending, nil)
        Limits.raiseDescriptors()

        let server: Server
        do throws(Server.StartFailure) {
            server = try Server(options: options)
            try server.startAccepting()
        } catch {
            say("LoopbackOrigin: \(error.message)\n", on: 2)
            exit(1)
        }
        say("listening \(options.firstAddress):\(server.port)\n", on: 1)

        if options.endsWithStandardInput {
            let started = SmallThread.start {
                waitForEndOfStandardInput()
                _exit(0)
            }
            guard started else { exit(1) }
        }
        var remaining = timespec(tv_sec: options.lifetimeSeconds, tv_nsec: 0)
        let clockStart = Clock.milliseconds()
        while sigtimedwait(&ending, nil, &remaining) < 0, errno == EINTR {
            let spent = (Clock.milliseconds() - clockStart) / 1000
            remaining.tv_sec = max(0, options.lifetimeSeconds - spent)
        }
        _exit(0)
    }

    private static func waitForEndOfStandardInput() {
        var bytes = [UInt8](repeating: 0, count: 512)
        while true {
            let count = read(0, &bytes, bytes.count)
            if count > 0 || (count < 0 && errno == EINTR) { continue }
            return
        }
    }

    private static func say(_ text: String, on descriptor: Int32) {
        let bytes = Array(text.utf8)
        _ = write(descriptor, bytes, bytes.count)
    }
}

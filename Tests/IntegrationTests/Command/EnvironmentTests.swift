import Glibc
import Testing

@Suite("What the environment says, as trawl takes it", .timeLimit(.minutes(5)))
struct EnvironmentTests {
    @Test(
        "a variable that makes no sense is a wrong configuration, and nothing is fetched",
        arguments: [("TRAWL_WORKERS", "x"), ("TRAWL_WORKERS", "65"), ("http_proxy", "gopher://h:1")])
    func wrong(name: String, value: String) throws {
        let bed = try BatchBed()
        try bed.putList(["http://127.0.0.1:1/"])
        let commands = [
            ["batch", bed.list, "--no-files"], ["pipe"],
            ["get", "-o", "/dev/null", "-o", "/dev/null", "http://127.0.0.1:1/a", "http://127.0.0.1:1/b"],
        ]
        for command in commands {
            let run = try CommandRun(command, environment: [name: value])
            #expect(run.status == 78 && run.errors.hasPrefix("trawl: \(name)"), "\(command): \(run.errors)")
            #expect(run.output.isEmpty)
        }
        // A single URL has curl's codes.
        let single = try CommandRun(["get", "http://127.0.0.1:1/"], environment: [name: value])
        #expect(single.status == 2, "\(single.errors)")
    }

    @Test("variables that are empty say nothing")
    func empty() throws {
        let run = try CommandRun(["pipe"], input: "", environment: ["TRAWL_WORKERS": "", "http_proxy": ""])
        #expect(run.status == 0, "\(run.errors)")
    }

    @Test("what is set for the user who runs the tests does not reach what they start")
    func inherited() async {
        await #expect(processExitsWith: .success) {
            let variables = ["TRAWL_WORKERS": "many", "http_proxy": "gopher://h:1", "XDG_CONFIG_HOME": "/nonexistent"]
            for (name, value) in variables { setenv(name, value, 1) }
            let run = try CommandRun(["pipe"], input: "")
            expectInChild(run.status == 0, run.errors)
            for name in variables.keys { expectInChild(getenv(name) == nil, name) }
        }
    }
}

import Glibc
import Testing

@testable import Trawl

@Suite("Why a helper has not done what it was asked for, ASI-AUTH-11", .timeLimit(.minutes(10)))
struct HelperVaultTests {
    private let item = VaultItem(scheme: "https", host: "a.example", port: 443, realm: "r")

    @Test("what no helper can be told is a problem, and what it has kept is none")
    func untold() async {
        let token = HelperVault(command: ["true"])
        await token.save(Credential(bearer: "tok"), for: item)
        #expect(token.problem == "a helper knows users and passwords alone")
        let saving = HelperVault(command: ["true"])
        await saving.save(Credential(user: "u", password: "p\nhost=evil"), for: item)
        #expect(saving.problem == "no helper can be told a line's end")
        let removing = HelperVault(command: ["true"])
        await removing.remove(VaultItem(scheme: "https", host: "a.example", port: 443, user: "u\nhost=evil"))
        #expect(removing.problem == "no helper can be told a line's end")
        let nameless = HelperVault(command: [])
        await nameless.save(Credential(user: "u", password: "p"), for: item)
        #expect(nameless.problem == "no program is named")
        let right = HelperVault(command: ["true"], timeout: .seconds(60))
        await right.save(Credential(user: "u", password: "p"), for: item)
        #expect(right.problem == nil)
    }

    @Test("where nobody is told how processes end, what a helper said counts")
    func untoldEnds() async {
        await #expect(processExitsWith: .exitCode(0)) {
            signal(SIGCHLD, SIG_IGN)
            let vault = HelperVault(
                command: ["/bin/sh", "-c", "cat > /dev/null; echo username=me; echo password=pw"],
                timeout: .seconds(60))
            let found = await vault.credential(for: VaultItem(scheme: "https", host: "a.example", port: 443))
            exit(found?.user == "me" && found?.secret == "pw" && vault.problem == nil ? 0 : 1)
        }
    }

    @Test("what a helper said while the process was stopped counts, however long that was")
    func stopped() async {
        await #expect(processExitsWith: .exitCode(0)) {
            // With more time where the machine alone took the helper so long.
            for limit in [3, 12, 40] {
                _ = system("(kill -STOP $PPID; sleep \(limit + 1); kill -CONT $PPID) &")
                let vault = HelperVault(
                    command: ["/bin/sh", "-c", "cat > /dev/null; sleep 1; echo username=me; echo password=pw"],
                    timeout: .seconds(limit))
                let found = await vault.credential(for: VaultItem(scheme: "https", host: "a.example", port: 443))
                if found?.user == "me", found?.secret == "pw" { exit(0) }
            }
            exit(1)
        }
    }

    @Test("the reason is that of the question, not that of another one before")
    func ownReason() async {
        let vault = HelperVault(
            command: ["/bin/sh", "-c", "[ $0 = get ] && exit 1; exec sleep 60"], timeout: .seconds(60))
        let none = await vault.credential(for: item)
        #expect(none == nil && vault.problem == "it ended with status 1")
        // Given up, whether it has begun by then or not.
        let question = Task { [item] in await vault.keep(Credential(user: "u", password: "p"), for: item) }
        question.cancel()
        let reason = await question.value
        #expect(reason == "the helper was given up")
        #expect(vault.problem == "it ended with status 1")
    }
}

import Foundation
import Glibc
import Testing
import Trawl

/// A vault that keeps nothing and counts what it is given.
private final class CountingVault: CredentialVault {
    let saved = Locked(0)

    func credential(for item: VaultItem) async -> Credential? { nil }
    func save(_ credential: Credential, for item: VaultItem) async { saved.withLock { $0 += 1 } }
    func remove(_ item: VaultItem) async {}
    func items() async -> [VaultItem] { [] }
}

@Suite("Vaults, ASI-AUTH-11", .timeLimit(.minutes(2)))
struct VaultTests {
    private let item = VaultItem(scheme: "https", host: "a.example", port: 443, realm: "r")

    @Test("a sealed file says nothing without its passphrase, and all with it")
    func sealed() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("vault")
        let vault = try SealedFileVault(path: path, passphrase: "open sesame")
        try vault.store(Credential(user: "someuser", password: "somepassword"), for: item)
        await vault.save(Credential(bearer: "sometoken"), for: VaultItem(scheme: "http", host: "b.example", port: 80))
        var info = stat()
        #expect(stat(path, &info) == 0 && info.st_mode & 0o777 == 0o600)
        let text = String(decoding: directory.content("vault") ?? [], as: UTF8.self)
        for word in ["someuser", "somepassword", "sometoken", "a.example"] { #expect(!text.contains(word)) }
        #expect(throws: SealedFileVault.Fault.wrongPassphrase) {
            try SealedFileVault(path: path, passphrase: "open sesamE")
        }
        let again = try SealedFileVault(path: path, passphrase: "open sesame")
        let found = await again.credential(for: item)
        #expect(found?.user == "someuser" && found?.secret == "somepassword")
        let items = await again.items()
        #expect(items.count == 2)
        // What is kept for no realm is for all.
        let token = await again.credential(for: VaultItem(scheme: "http", host: "b.example", port: 80, realm: "any"))
        #expect(token?.isBearer == true && token?.secret == "sometoken")
        let isGone = try again.delete(item)
        let isGoneTwice = try again.delete(item)
        #expect(isGone && !isGoneTwice)
        let rest = await vault.credential(for: item)
        #expect(rest == nil)
        // A bit that was changed anywhere.
        var bytes = directory.content("vault") ?? []
        bytes[bytes.count - 20] ^= 1
        try directory.put("vault", bytes)
        #expect(throws: SealedFileVault.Fault.wrongPassphrase) {
            try SealedFileVault(path: path, passphrase: "open sesame")
        }
        // A cost that no vault of this version has.
        for cost: UInt8 in [9, 23] {
            bytes[8] = cost
            try directory.put("vault", bytes)
            #expect(throws: SealedFileVault.Fault.notAVault) {
                try SealedFileVault(path: path, passphrase: "open sesame")
            }
        }
        try directory.put("vault", Array("short".utf8))
        #expect(throws: SealedFileVault.Fault.notAVault) { try SealedFileVault(path: path, passphrase: "x") }
        for path in ["", "a\0b"] {
            #expect(throws: SealedFileVault.Fault.system(EINVAL)) { try SealedFileVault(path: path, passphrase: "x") }
        }
    }

    @Test("a sealed file keeps several users of a space for who names one, and the latest for others (ULS-AUTH-03)")
    func users() async throws {
        let directory = try TemporaryDirectory()
        let vault = try SealedFileVault(path: directory.file("vault"), passphrase: "open sesame")
        func of(_ user: String?) -> VaultItem {
            VaultItem(scheme: "https", host: "a.example", port: 443, realm: "r", user: user)
        }
        func found(_ user: String?) async -> [String?] {
            let credential = await vault.credential(for: of(user))
            return [credential?.user, credential?.secret]
        }
        for (user, password) in [("ann", "a1"), ("bob", "b1"), ("ann", "a2"), ("bob", "b2")] {
            await vault.save(Credential(user: user, password: password), for: of(user))
        }
        let again = try SealedFileVault(path: directory.file("vault"), passphrase: "open sesame")
        #expect(await again.items() == [of("ann"), of("bob")])
        #expect(await found("ann") == ["ann", "a2"])
        #expect(await found("bob") == ["bob", "b2"])
        #expect(await found(nil) == ["bob", "b2"])
        #expect(await found("eve") == [nil, nil])
        await vault.remove(of("bob"))
        #expect(await found(nil) == ["ann", "a2"])
        // What is kept for nobody in particular takes the place of all.
        await vault.save(Credential(user: "eve", password: "e"), for: of(nil))
        #expect(await vault.items() == [of("eve")])
        // Two users, though one name to Unicode.
        for (user, password) in [("e\u{301}", "1"), ("\u{E9}", "2")] {
            await vault.save(Credential(user: user, password: password), for: of(user))
        }
        let passwords = [await found("e\u{301}")[1], await found("\u{E9}")[1]]
        #expect(passwords == ["1", "2"])
    }

    @Test("all realms of a server are forgotten at once, and no other server's or proxy's")
    func allRealms() throws {
        let directory = try TemporaryDirectory()
        let vault = try SealedFileVault(path: directory.file("vault"), passphrase: "open sesame")
        func of(_ realm: String?, port: Int = 443, isProxy: Bool = false) -> VaultItem {
            VaultItem(scheme: "https", host: "a.example", port: port, realm: realm, isProxy: isProxy)
        }
        for item in [of("r"), of("s"), of(nil), of("r", port: 444), of("r", isProxy: true)] {
            try vault.store(Credential(user: "me", password: "pw"), for: item)
        }
        #expect(try vault.deleteAll(of: of("r")))
        let rest = try vault.list().map(\.item)
        #expect(rest.map(\.port) == [444, 443] && rest.map(\.isProxy) == [false, true])
        #expect(try !vault.deleteAll(of: of("r")))
    }

    @Test("who changes a sealed file holds up no task, however many wait for it")
    func blocked() async throws {
        let directory = try TemporaryDirectory()
        let vault = try SealedFileVault(path: directory.file("vault"), passphrase: "open sesame")
        try vault.store(Credential(user: "me", password: "old"), for: item)
        let lock = open(directory.file("vault.lock"), O_RDWR | O_CLOEXEC)
        defer { close(lock) }
        #expect(flock(lock, LOCK_EX) == 0)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<16 {
                group.addTask { [item] in await vault.save(Credential(user: "me", password: "new"), for: item) }
            }
            // On a machine with fewer processors than that.
            let found = await Task.detached { [item] in await vault.credential(for: item) }.value
            #expect(found?.secret == "old")
            flock(lock, LOCK_UN)
        }
        let found = await vault.credential(for: item)
        #expect(found?.secret == "new")
    }

    @Test("two who make a sealed file at the same time make one, and both keep what they have")
    func madeTwice() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("vault")
        let vaults = try (0..<2).map { _ in try SealedFileVault(path: path, passphrase: "open sesame") }
        for (number, vault) in vaults.enumerated() {
            let place = VaultItem(scheme: "https", host: "\(number).example", port: 443)
            try vault.store(Credential(user: "me", password: "pw"), for: place)
        }
        for vault in vaults {
            let hosts = try vault.list().map(\.item.host)
            #expect(hosts == ["0.example", "1.example"])
        }
        #expect(throws: SealedFileVault.Fault.wrongPassphrase) {
            try SealedFileVault(path: path, passphrase: "another")
        }
    }

    @Test("a link to a vault stays one, and what is removed through it is gone")
    func link() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("vault")
        let link = directory.file("link")
        symlink("vault", link)
        // The link is there before the vault.
        let linked = try SealedFileVault(path: link, passphrase: "open sesame")
        try linked.store(Credential(user: "someuser", password: "somepassword"), for: item)
        let vault = try SealedFileVault(path: path, passphrase: "open sesame")
        let count = try vault.list().count
        let isGone = try linked.delete(item)
        let rest = try vault.list().count
        #expect(count == 1 && isGone && rest == 0)
        var info = stat()
        #expect(lstat(link, &info) == 0 && info.st_mode & S_IFMT == S_IFLNK)
    }

    @Test("a helper speaks git's format, and one that hangs or fails has nothing to say")
    func helper() async throws {
        let directory = try TemporaryDirectory()
        let script = """
            #!/bin/sh
            cat > "\(directory.path)/said.$1"
            case "$1" in
            get) printf 'username=me\\npassword=p=w\\n' ;;
            esac
            """
        try directory.put("helper", Array(script.utf8))
        chmod(directory.file("helper"), 0o700)
        let vault = HelperVault(command: [directory.file("helper")])
        let found = await vault.credential(for: VaultItem(scheme: "https", host: "a.example", port: 8443, realm: "r"))
        #expect(found?.user == "me" && found?.secret == "p=w")
        #expect(directory.content("said.get") == Array("protocol=https\nhost=a.example:8443\n\n".utf8))
        _ = await vault.credential(for: VaultItem(scheme: "http", host: "a.example", port: 80, user: "ann"))
        #expect(directory.content("said.get") == Array("protocol=http\nhost=a.example\nusername=ann\n\n".utf8))
        await vault.save(Credential(user: "u", password: "p"), for: item)
        #expect(
            directory.content("said.store")
                == Array("protocol=https\nhost=a.example\nusername=u\npassword=p\n\n".utf8))
        await vault.remove(item)
        #expect(directory.content("said.erase") == Array("protocol=https\nhost=a.example\n\n".utf8))
        // A line's end would be another line.
        try directory.put("said.store", [])
        await vault.save(Credential(user: "u", password: "p\nhost=evil"), for: item)
        #expect(directory.content("said.store") == [])
        for command in [["/bin/sh", "-c", "exec sleep 60"], ["false"], ["/no/such"], ["yes"]] {
            let start = ContinuousClock.now
            let none = await HelperVault(command: command, timeout: .milliseconds(300)).credential(for: item)
            #expect(none == nil && ContinuousClock.now - start < .seconds(20), "\(command)")
        }
    }

    @Test("a helper that is given up takes with it what it started")
    func group() async throws {
        let directory = try TemporaryDirectory()
        let child = "sh -c 'echo $$ > \"\(directory.path)/child\"; sleep 60' & wait"
        func childIsGone() async -> Bool {
            await eventually {
                guard let text = directory.content("child"),
                    let number = Int32(String(decoding: text, as: UTF8.self).dropLast())
                else { return false }
                let state = ProcessTree.state(of: number)
                return state == nil || state == "Z"
            }
        }
        // A busy machine may need more time to start it.
        for seconds in [1.0, 4, 16] where directory.content("child")?.isEmpty ?? true {
            let slow = HelperVault(command: ["/bin/sh", "-c", child], timeout: .seconds(seconds))
            let none = await slow.credential(for: item)
            #expect(none == nil && slow.problem?.contains("in time") == true)
        }
        #expect(await childIsGone())
        try directory.put("child", [])
        let left = HelperVault(command: ["/bin/sh", "-c", child], timeout: .seconds(60))
        let question = Task { [item] in await left.credential(for: item) }
        let hasStarted = await eventually { directory.content("child")?.isEmpty == false }
        #expect(hasStarted)
        question.cancel()
        let found = await question.value
        #expect(found == nil)
        #expect(await childIsGone())
        let failing = HelperVault(command: ["false"])
        _ = await failing.credential(for: item)
        #expect(failing.problem == "it ended with status 1")
    }

    @Test("what is told a helper last is told before a shutdown ends, and one that hangs is ended with it")
    func lastSave() async throws {
        let directory = try TemporaryDirectory()
        let answering = ChallengingOrigin.taking(ChallengingOrigin.basic("me", "pass"))
        func run(_ script: String, _ timeout: Duration) async throws {
            try directory.put("helper", Array("#!/bin/sh\n[ $1 = store ] || exit 0\n\(script)\n".utf8))
            chmod(directory.file("helper"), 0o700)
            let vault = HelperVault(command: [directory.file("helper")], timeout: timeout)
            try await withScene(adjust: { $0.vault = vault }, answering: answering) { scene, coordinator in
                var request = Request(scene.origin.url("/a"))
                request.options.authentication.allowsClearText = true
                request.options.authentication.credential = Credential(
                    user: "me", password: "pass", persistence: .permanent)
                let response = try await coordinator.send(request)
                #expect(response.status == 200)
            }
        }
        try await run("cd \"\(directory.path)\"; cat > part; sleep 0.3; mv part said", .seconds(20))
        #expect(String(decoding: directory.content("said") ?? [], as: UTF8.self).contains("password=pass"))
        // A busy machine may need more time to start it.
        for seconds in [0.5, 2, 8] where directory.content("pid")?.isEmpty ?? true {
            try await run("echo $$ > \"\(directory.path)/pid\"; exec sleep 600", .seconds(seconds))
        }
        let text = String(decoding: directory.content("pid") ?? [], as: UTF8.self)
        let pid = try #require(Int32(text.trimmingCharacters(in: .whitespacesAndNewlines)))
        // Waited for, too.
        #expect(ProcessTree.state(of: pid) == nil)
    }

    @Test("a vault is asked on a challenge when that is wanted, and keeps what is to be kept")
    func asked() async throws {
        let directory = try TemporaryDirectory()
        let vault = try SealedFileVault(path: directory.file("vault"), passphrase: "x")
        try await withScene(
            adjust: { $0.vault = vault }, answering: ChallengingOrigin.taking(ChallengingOrigin.basic("me", "pass"))
        ) { scene, coordinator in
            func send(_ target: String, _ adjust: (inout RequestOptions.Authentication) -> Void) async throws
                -> Response
            {
                var request = Request(scene.origin.url(target))
                request.options.authentication.allowsClearText = true
                request.options.authentication.usesSession = false
                adjust(&request.options.authentication)
                return try await coordinator.send(request)
            }
            let kept = try await send("/a") {
                $0.credential = Credential(user: "me", password: "pass", persistence: .permanent)
                $0.usesSession = true
                $0.sendsAhead = false
            }
            #expect(kept.status == 200)
            let isKept = await eventually { await !vault.items().isEmpty }
            #expect(isKept)
            let unasked = try await send("/b") { $0.whenRefused = .delivers }
            #expect(unasked.status == 401)
            let asked = try await send("/b") { $0.usesVault = true }
            #expect(asked.status == 200 && asked.authentication?.source == .vault)
            for item in try vault.list() { try vault.delete(item.item) }
            let empty = try await send("/b") {
                $0.usesVault = true
                $0.whenRefused = .delivers
            }
            #expect(empty.status == 401 && empty.bodyText == "who?")
        }
    }

    @Test("why a vault has not kept what works is told, and nothing secret with it")
    func notKept() async throws {
        let directory = try TemporaryDirectory()
        let folder = try directory.makeDirectory("vaults")
        let sealed = try SealedFileVault(path: folder + "/vault", passphrase: "x")
        try FileManager.default.removeItem(atPath: folder)
        #expect(sealed.problem == nil)
        let vaults: [any CredentialVault] = [sealed, HelperVault(command: ["false"])]
        for vault in vaults {
            let said = Locked<[String]>([])
            try await withScene(
                adjust: {
                    $0.vault = vault
                    $0.debugLog = DebugLog(.authentication) { line in said.withLock { $0.append(line) } }
                }, answering: ChallengingOrigin.taking(ChallengingOrigin.basic("me", "hidden"))
            ) { scene, coordinator in
                var request = Request(scene.origin.url("/a"))
                request.options.authentication.allowsClearText = true
                request.options.authentication.credential = Credential(
                    user: "me", password: "hidden", persistence: .permanent)
                let response = try await coordinator.send(request)
                #expect(response.status == 200)
                let isTold = await eventually {
                    said.withLock { lines in lines.contains { $0.hasPrefix("the vault has not kept what works: ") } }
                }
                #expect(isTold)
            }
            #expect(!said.withLock { lines in lines.contains { $0.contains("hidden") } })
        }
        #expect(sealed.problem == .system(ENOENT))
    }

    @Test(
        "what is kept for good is given to the vault once, with the session and without (ULS-AUTH-01)",
        arguments: [true, false])
    func once(usesSession: Bool) async throws {
        let vault = CountingVault()
        let right = ChallengingOrigin.basic("me", "pass")
        try await withScene(
            adjust: { $0.vault = vault },
            answering: { seen in
                seen.fields["authorization"] == "Bearer tok"
                    ? ScriptedOrigin.Answer(200, "token") : ChallengingOrigin.taking(right)(seen)
            }
        ) { scene, coordinator in
            for credential in [
                Credential(bearer: "tok", persistence: .permanent),
                Credential(user: "me", password: "pass", persistence: .permanent),
            ] {
                for number in 0..<4 {
                    let response = try await coordinator.get(scene.origin.url("/\(number)/x"), .doNotRead) {
                        $0.authentication.credential = credential
                        $0.authentication.allowsClearText = true
                        $0.authentication.usesSession = usesSession
                    }
                    #expect(response.status == 200)
                }
            }
        }
        // All that was begun is over with the coordinator.
        let saved = vault.saved.withLock { $0 }
        #expect(saved == 2)
    }
}

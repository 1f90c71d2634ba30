import CTrawlLMDB
import Glibc
import TestSupport
import TrawlPlatform
import TrawlStore

/// What a child process does to an environment: `environment-MODE DIRECTORY …`. It says a line when it is where the
/// test wants it, and goes on, or waits to be killed.
enum EnvironmentModes {
    static let numbers = Table(0, "numbers", .integers)
    static let names = Table(1, "names", .bytes)

    /// Runs a mode of its own; false when it is another's.
    static func run(_ arguments: [String]) throws -> Bool {
        guard arguments.count >= 2 else { return false }
        let directory = arguments[1]
        let numbers = arguments.dropFirst(2).compactMap { UInt64($0) }
        switch arguments[0] {
        case "environment-read": try hold(directory, snapshots: Int(numbers[0]), maxReaders: Int(numbers[1]))
        case "environment-write": try holdWrite(directory)
        case "environment-stranger": stranger(directory)
        case "environment-churn": try churn(directory, seed: numbers[0])
        case "environment-fill": try fill(directory, rows: numbers[0], mapSize: Int(numbers[1]))
        case "environment-limit": try limit(directory, bytes: numbers[0])
        case "environment-addresses": try addresses(directory, mapSize: numbers[0])
        case "environment-fork": try fork(directory)
        case "environment-closed": try closedStreams(directory)
        case "environment-flips": try flips(arguments[2], directory, seed: numbers[0], rounds: numbers[1]..<numbers[2])
        default: return false
        }
        return true
    }

    /// For others that do not come to their turn on a busy machine.
    private static let patience = Duration.seconds(60)

    static func settings(mapSize: Int = 1 << 30) -> EnvironmentSettings {
        var settings = EnvironmentSettings(tables: [numbers, names], format: 1, isRebuildable: true)
        settings.mapSize = mapSize
        settings.openingPatience = patience
        return settings
    }

    static func say(_ line: String) {
        print(line)
        fflush(nil)
    }

    private static func wait() -> Never {
        while true { pause() }
    }

    /// Sits inside snapshots, one in the other.
    private static func hold(_ directory: String, snapshots: Int, maxReaders: Int) throws {
        var settings = settings()
        settings.maxReaders = maxReaders
        let environment = try Environment.open(directory: directory, settings: settings)
        func descend(_ left: Int) throws(StoreError) {
            if left == 0 {
                say("inside")
                wait()
            }
            try environment.read { snapshot throws(StoreError) in
                _ = try snapshot.get(numbers, 1)
                try descend(left - 1)
            }
        }
        do { try descend(snapshots) } catch { say("\(error)") }
    }

    /// Sits inside a write as a program does that knows LMDB alone.
    private static func stranger(_ directory: String) {
        var (environment, transaction): (OpaquePointer?, OpaquePointer?)
        mdb_env_create(&environment)
        mdb_env_set_maxdbs(environment, 16)
        mdb_env_set_maxreaders(environment, 510)
        mdb_env_set_mapsize(environment, 1 << 30)
        let opened = mdb_env_open(environment, directory, UInt32(MDB_NOTLS | MDB_NOSYNC), 0o600)
        let begun = mdb_txn_begin(environment, nil, 0, &transaction)
        say(opened == 0 && begun == 0 ? "inside" : "\(opened) \(begun)")
        wait()
    }

    /// Sits inside a write that changed much.
    private static func holdWrite(_ directory: String) throws {
        let environment = try Environment.open(directory: directory, settings: settings())
        try environment.write { transaction throws(StoreError) in
            for key: UInt64 in 0..<500 { try put(transaction, key, version: 999) }
            say("inside")
            wait()
        }
    }

    /// Writes until it is killed: in each transaction two rows that must agree, and some that come and go.
    private static func churn(_ directory: String, seed: UInt64) throws {
        let environment = try Environment.open(directory: directory, settings: settings())
        var random = SeededGenerator(seed: seed)
        say("inside")
        while true {
            let base = UInt64.random(in: 0..<200, using: &random)
            let version = UInt64.random(in: 0..<1 << 32, using: &random)
            let extra = (0..<8).map { _ in UInt64.random(in: 1000..<4000, using: &random) }
            try environment.write(patience: patience) { transaction throws(StoreError) in
                try put(transaction, base * 2, version: version)
                try put(transaction, base * 2 + 1, version: version)
                for key in extra {
                    if key % 3 == 0 {
                        try transaction.delete(numbers, key)
                    } else {
                        try put(transaction, key, version: version)
                    }
                }
            }
            try environment.read { snapshot throws(StoreError) in
                for key in extra { try SampleRow.check(snapshot.get(numbers, key), key) }
            }
        }
    }

    /// Appends rows in small transactions, from a mapping that may be too small.
    private static func fill(_ directory: String, rows: UInt64, mapSize: Int) throws {
        let environment = try Environment.open(directory: directory, settings: settings(mapSize: mapSize))
        let first = try environment.read { snapshot throws(StoreError) in try snapshot.last(numbers)?.key ?? 0 } + 1
        for key in first..<first + rows {
            try environment.write { transaction throws(StoreError) in
                try transaction.append(numbers, key, count: 3000) { SampleRow.fill($0, key, version: 1) }
            }
        }
        environment.close()
        say("done")
    }

    /// Writes until a file may grow no more; then what was there must still be.
    private static func limit(_ directory: String, bytes: UInt64) throws {
        signal(SIGXFSZ, SIG_IGN)
        let environment = try Environment.open(directory: directory, settings: settings())
        try environment.write { transaction throws(StoreError) in try put(transaction, 1, version: 1) }
        var limit = rlimit(rlim_cur: rlim_t(bytes), rlim_max: rlim_t(bytes))
        setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
        say(try fillUp(environment))
        environment.close()
    }

    /// Adds rows until that fails, and says how; then whether all that was committed is there.
    static func fillUp(_ environment: Environment) throws(StoreError) -> String {
        var committed: UInt64 = 1
        var ending = "never"
        for key: UInt64 in 2..<100_000 {
            do throws(StoreError) {
                try environment.write { transaction throws(StoreError) in
                    try transaction.put(numbers, key, count: 20_000) { SampleRow.fill($0, key, version: 1) }
                }
                committed = key
            } catch {
                if case .diskFull = error { ending = "full" } else { ending = "\(error)" }
                break
            }
        }
        try environment.read { snapshot throws(StoreError) in
            for key in 1...committed where try snapshot.get(numbers, key) == nil { ending += " lost" }
            for key in 1...committed { try SampleRow.check(snapshot.get(numbers, key), key) }
        }
        // Deleting needs a few pages only, which earlier deletions left.
        return "\(ending) \(committed > 10 ? "many" : "\(committed)")"
    }

    /// Says when it is ready; once another process made the mapping that large, and the file `grown`, this one has
    /// addresses for one such mapping and not for two, and in the end for both.
    private static func addresses(_ directory: String, mapSize: UInt64) throws {
        var settings = settings(mapSize: 1 << 20)
        settings.reopeningPause = .zero
        let environment = try Environment.open(directory: directory, settings: settings)
        try environment.write { transaction throws(StoreError) in try put(transaction, 1, version: 1) }
        try environment.read { snapshot throws(StoreError) in _ = try snapshot.get(numbers, 1) }
        say("ready")
        while access(directory + "/grown", F_OK) != 0 { usleep(1000) }
        let resource = __rlimit_resource_t(RLIMIT_AS.rawValue)
        var limit = rlimit()
        getrlimit(resource, &limit)
        limit.rlim_cur = rlim_t(takenAddresses() + mapSize / 2 * 3)
        setrlimit(resource, &limit)
        var answers: [String] = []
        func note(_ body: () throws(StoreError) -> Void) {
            do throws(StoreError) {
                try body()
                answers.append("done")
            } catch {
                var isRefused = false
                if case .system(let failure) = error { isRefused = failure.errno == ENOMEM }
                answers.append(isRefused ? "no memory" : "\(error)")
            }
        }
        for _ in 0..<3 {
            note { () throws(StoreError) in
                try environment.read { snapshot throws(StoreError) in _ = try snapshot.get(numbers, 1) }
            }
        }
        note { () throws(StoreError) in
            try environment.write { transaction throws(StoreError) in try put(transaction, 2, version: 1) }
        }
        say(answers.joined(separator: ", "))
        limit.rlim_cur = limit.rlim_max
        setrlimit(resource, &limit)
        let isThere = try environment.read { snapshot throws(StoreError) in try snapshot.get(numbers, 1) != nil }
        say(isThere ? "there" : "lost")
        environment.close()
    }

    /// Bytes of addresses this process has taken.
    private static func takenAddresses() -> UInt64 {
        guard let file = fopen("/proc/self/statm", "re") else { return 0 }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        guard fgets(&line, 256, file) != nil else { return 0 }
        return strtoull(line, nil, 10) * UInt64(sysconf(Int32(_SC_PAGESIZE)))
    }

    /// Uses the environment in a copy of the process, where that is refused.
    private static func fork(_ directory: String) throws {
        let environment = try Environment.open(directory: directory, settings: settings())
        try environment.write { transaction throws(StoreError) in try put(transaction, 1, version: 1) }
        guard let symbol = dlsym(nil, "fork") else { return }
        typealias Fork = @convention(c) () -> pid_t
        let child = unsafeBitCast(symbol, to: Fork.self)()
        if child == 0 {
            var answers: [String] = []
            do throws(StoreError) {
                try environment.read { snapshot throws(StoreError) in _ = try snapshot.get(numbers, 1) }
                answers.append("read")
            } catch { answers.append("\(error)") }
            do throws(StoreError) {
                try environment.write { transaction throws(StoreError) in try put(transaction, 1, version: 2) }
                answers.append("write")
            } catch { answers.append("\(error)") }
            do throws(StoreError) {
                _ = try Environment.open(directory: directory, settings: settings())
                answers.append("open")
            } catch { answers.append("\(error)") }
            environment.close()
            say(answers.joined(separator: "|"))
            _exit(0)
        }
        var status: Int32 = 0
        waitpid(child, &status, 0)
        try environment.read { snapshot throws(StoreError) in try SampleRow.check(snapshot.get(numbers, 1), 1) }
        environment.close()
        say("parent goes on")
    }

    /// Opens an environment with closed standard streams, but for the one to say something on.
    private static func closedStreams(_ directory: String) throws {
        close(0)
        close(2)
        let environment = try Environment.open(directory: directory, settings: settings())
        try environment.write { transaction throws(StoreError) in try put(transaction, 1, version: 1) }
        say(fcntl(0, F_GETFD) < 0 && fcntl(2, F_GETFD) < 0 ? "free" : "taken")
        environment.close()
    }

    static func put(_ transaction: borrowing Transaction, _ key: UInt64, version: UInt64) throws(StoreError) {
        try transaction.put(numbers, key, count: SampleRow.size(key, version)) {
            SampleRow.fill($0, key, version: version)
        }
    }
}

/// Rows that say themselves whether they are whole: key, version, check sum, and bytes that follow from the two.
enum SampleRow {
    static func size(_ key: UInt64, _ version: UInt64) -> Int {
        24 + Int((key &* 31 &+ version &* 17) % 7 == 0 ? 3000 + version % 6000 : version % 300)
    }

    static func fill(_ place: UnsafeMutableRawBufferPointer, _ key: UInt64, version: UInt64) {
        place.storeBytes(of: key, toByteOffset: 0, as: UInt64.self)
        place.storeBytes(of: version, toByteOffset: 8, as: UInt64.self)
        if let base = place.baseAddress { memset(base + 24, Int32(version & 0x7F), place.count - 24) }
        let sum = sum(UnsafeRawBufferPointer(place))
        place.storeBytes(of: sum, toByteOffset: 16, as: UInt64.self)
    }

    /// The version of a row; `nil` when it is not whole or another key's.
    static func version(_ value: UnsafeRawBufferPointer, _ key: UInt64) -> UInt64? {
        guard value.count >= 24, value.loadUnaligned(as: UInt64.self) == key,
            value.loadUnaligned(fromByteOffset: 16, as: UInt64.self) == sum(value)
        else { return nil }
        return value.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
    }

    static func check(_ value: UnsafeRawBufferPointer?, _ key: UInt64) throws(StoreError) {
        if let value, version(value, key) == nil { throw .unfit("row \(key) is not whole") }
    }

    private static func sum(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var sum: UInt64 = 0xCBF2_9CE4_8422_2325
        var offset = 0
        while offset < bytes.count {
            var word: UInt64 = 0
            if offset + 8 <= bytes.count {
                if offset != 16 { word = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self) }
            } else {
                for index in offset..<bytes.count { word = word << 8 | UInt64(bytes[index]) }
            }
            sum = (sum ^ word) &* 0x100_0000_01B3
            sum ^= sum >> 29
            offset += 8
        }
        return sum
    }
}

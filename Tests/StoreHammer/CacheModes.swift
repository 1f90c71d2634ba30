import Glibc
import TrawlPlatform
import TrawlStore

/// What a child process does to a cache: `cache-MODE DIRECTORY …`.
enum CacheModes {
    /// Runs a mode of its own; false when it is another's.
    static func run(_ arguments: [String]) throws -> Bool {
        guard arguments.count >= 2 else { return false }
        switch arguments[0] {
        case "cache-die": try die(arguments[1], at: arguments[2])
        case "cache-churn": try churn(arguments[1], seed: UInt64(arguments[2]) ?? 0, budget: UInt64(arguments[3]) ?? 0)
        case "cache-hold": try hold(arguments[1])
        case "cache-turns": try turns(arguments[1])
        case "cache-session": try session(arguments[1])
        case "cache-memory": try memory(arguments[1], mebibytes: Int(arguments[2]) ?? 0)
        case "cache-share": try share(arguments[1])
        case "cache-crowd": try crowd(arguments[1])
        case "cache-limit": try limit(arguments[1], bytes: UInt(arguments[2]) ?? 0)
        default: return false
        }
        return true
    }

    /// Stores two responses, and is killed while it stores the third.
    private static func die(_ directory: String, at point: String) throws {
        #if DEBUG
            let reached = Guarded(0)
            var settings = CacheSettings()
            settings.faultHook = { passed in
                guard passed.rawValue == point else { return }
                let count = reached.withLock { reached in
                    reached += 1
                    return reached
                }
                if count == 3 { kill(getpid(), SIGKILL) }
            }
            let store = try CacheStore.open(directory: directory, settings: settings)
            // Bodies of their own.
            for number in 0..<3 { _ = put(number, CacheContent.body(100 * number, 100_000), in: store) }
        #endif
        say("alive")
    }

    /// Stores, uses, reads and removes until it is killed. What it reads must be what somebody stored.
    private static func churn(_ directory: String, seed: UInt64, budget: UInt64) throws {
        var settings = CacheSettings()
        settings.budget = budget
        let store = try CacheStore.open(directory: directory, settings: settings)
        var random = CacheContent.Numbers(state: seed)
        say("ready")
        while true {
            let number = Int(random.next() % 300)
            switch random.next() % 16 {
            case 0..<5: _ = put(number, CacheContent.body(number, CacheContent.length(number)), in: store)
            case 5:
                store.submit(.removeAll(CacheContent.digest(number))) { _ in }
            case 6:
                // One that changes its header.
                let use = store.read(CacheContent.digest(number)) { $0.record(at: 0)?.use }
                if let use { store.submit(.replaceHeader(use, header: Array("new".utf8), stored: 2)) { _ in } }
            default:
                let body = store.read(CacheContent.digest(number)) { candidates -> StoredBody? in
                    guard let record = candidates.record(at: 0) else { return nil }
                    store.used(record.use)
                    return record.body()
                }
                let bytes: [UInt8]?
                switch body {
                case .bytes(let found): bytes = found
                case .blob(let reader): bytes = try? reader.bytes()
                case nil: bytes = nil
                }
                if let bytes, bytes != CacheContent.body(number, CacheContent.length(number)) {
                    say("wrong")
                    exit(3)
                }
            }
        }
    }

    /// Keeps everybody else from writing.
    private static func hold(_ directory: String) throws {
        let store = try CacheStore.open(directory: directory)
        CacheStore.betweenWrites(of: [store], patience: .seconds(5)) {
            say("ready")
            while true { pause() }
        }
    }

    /// Writes for each line it is given, and says whether it could.
    private static func turns(_ directory: String) throws {
        let store = try CacheStore.open(directory: directory)
        say("ready")
        while readLine() != nil {
            switch store.perform(.removeAll(CacheContent.digest(1_000_000))) {
            case .removed: say("done")
            case let outcome: say("\(outcome)")
            }
        }
        store.close()
    }

    /// Begins a session, stores for it, and waits.
    private static func session(_ directory: String) throws {
        let store = try CacheStore.open(directory: directory)
        let session = try store.beginSession()
        for number in 0..<5 {
            _ = put(number, CacheContent.body(number, 100), in: store, class: .session(session.id))
        }
        say("ready")
        while true { pause() }
    }

    /// Stores until there is no space: under a limit on the length of files, or on a small disk when the limit is 0.
    private static func limit(_ directory: String, bytes: UInt) throws {
        signal(SIGXFSZ, SIG_IGN)
        let store = try CacheStore.open(directory: directory)
        guard put(0, CacheContent.body(0, 4000), in: store) == .stored(1) else { return say("not even one") }
        if bytes > 0 {
            var limit = rlimit(rlim_cur: rlim_t(bytes), rlim_max: rlim_t(bytes))
            setrlimit(__rlimit_resource_t(1), &limit)
        }
        let spool = BodySpool(in: store.blobs, longest: store.longestBody)
        CacheContent.body(1, 20 << 20).withUnsafeBytes { spool.append($0) }
        say("spool \(spool.isOver) \(spool.finish() == nil)")
        var number = 10
        while true {
            let outcome = put(number, CacheContent.body(number, 16000), in: store)
            number += 1
            if case .stored = outcome { continue }
            guard case .notDone(.failed(.diskFull)) = outcome else { return say("\(String(describing: outcome))") }
            break
        }
        // What is there stays readable.
        for kept in [0, 10] {
            let length = kept == 0 ? 4000 : 16000
            guard case .bytes(let bytes)? = store.read(CacheContent.digest(kept), { $0.record(at: 0)?.body() }),
                bytes == CacheContent.body(kept, length)
            else { return say("lost \(kept)") }
        }
        store.close()
        say("full")
    }

    /// Stores, has the disk filled with all that is stored on it, and goes on: reads, writes, opens and closes.
    private static func crowd(_ directory: String) throws {
        let store = try CacheStore.open(directory: directory)
        for number in 0..<100 where put(number, CacheContent.body(number, 4000), in: store) != .stored(1) {
            return say("not stored")
        }
        func find() -> String {
            let use = store.read(CacheContent.digest(1)) { $0.record(at: 0)?.use }
            if let use { store.used(use) }
            return use == nil ? "miss" : "hit"
        }
        var answers = [find()]
        let filler = open(directory + "/filler", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        var size = 1 << 20
        let bytes = CacheContent.body(7, size)
        while size >= 512 { if write(filler, bytes, size) < size { size /= 2 } }
        // From now on a page has to have new space before it is written to.
        sync()
        // Who reads looks for room once a second.
        sleep(2)
        answers.append(find())
        if case .stored? = put(200, CacheContent.body(200, 4000), in: store) { answers.append("stored") }
        let other = try? CacheStore.open(directory: directory + "-other")
        answers.append(other == nil ? "refused" : "opened")
        store.close()
        answers.append("closed")
        say(answers.joined(separator: ", "))
    }

    /// Stores a long body, makes a file of it as a hit into a file does, and says how many of its pieces the two share.
    private static func share(_ directory: String) throws {
        let store = try CacheStore.open(directory: directory)
        let content = CacheContent.body(7, (3 << 20) + 5)
        _ = put(1, content, in: store)
        guard case .blob(let reader)? = store.read(CacheContent.digest(1), { $0.record(at: 0)?.body() }) else {
            return say("not stored")
        }
        let file = open(directory + "/copy", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { return say("no file") }
        let memory = ChunkMemory()
        var (shared, all) = (0, 0)
        var place: UInt64 = 0
        while place < reader.length {
            let end = place + UInt64(try reader.piece(place..<reader.length, in: memory).count)
            if reader.share(place..<end, with: file) { shared += 1 }
            all += 1
            place = end
        }
        var copy = [UInt8](repeating: 0, count: content.count + 1)
        let length = pread(file, &copy, copy.count, 0)
        close(file)
        store.close()
        let isRight = length == content.count && copy[..<content.count].elementsEqual(content)
        say("\(shared) of \(all) \(isRight ? "right" : "wrong")")
    }

    /// Stores a long body, reads it back, and says by how many KiB memory grew after the first MiB.
    private static func memory(_ directory: String, mebibytes: Int) throws {
        var settings = CacheSettings()
        // Four times that is mapped, for which a sanitizer must have addresses; a twentieth is the longest body.
        settings.budget = 1 << 35
        let store = try CacheStore.open(directory: directory, settings: settings)
        let piece = CacheContent.body(7, 1 << 20)
        let spool = BodySpool(in: store.blobs, longest: store.longestBody)
        piece.withUnsafeBytes { spool.append($0) }
        let before = anonymousKilobytes()
        for _ in 1..<mebibytes { piece.withUnsafeBytes { spool.append($0) } }
        var most = anonymousKilobytes()
        guard let body = spool.finish() else { return say("given up") }
        let digest = CacheContent.digest(1)
        let stored = store.perform(.append(NewRecord(digest: digest, header: [], body: body, stored: 1)))
        guard case .blob(let reader)? = store.read(digest, { $0.record(at: 0)?.body() }) else {
            return say("not found: \(stored)")
        }
        var length = 0
        try reader.read(0..<reader.length) { bytes in
            most = max(most, anonymousKilobytes())
            length += bytes.count
            return bytes.elementsEqual(piece)
        }
        store.close()
        say(length == mebibytes << 20 ? "\(most - before)" : "other bytes")
    }

    /// RssAnon of this process.
    private static func anonymousKilobytes() -> Int {
        guard let file = fopen("/proc/self/status", "re") else { return 0 }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        while fgets(&line, 256, file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            if text.hasPrefix("RssAnon:") { return Int(text.filter(\.isNumber)) ?? 0 }
        }
        return 0
    }

    private static func put(
        _ number: Int, _ body: [UInt8], in store: CacheStore, class storageClass: StorageClass = .permanent
    ) -> CacheOutcome? {
        let spool = BodySpool(in: store.blobs, longest: store.longestBody)
        body.withUnsafeBytes { spool.append($0) }
        guard let body = spool.finish() else { return nil }
        return store.perform(
            .append(
                NewRecord(
                    digest: CacheContent.digest(number), header: Array("header \(number)".utf8), body: body,
                    storageClass: storageClass, stored: 1)))
    }

    private static func say(_ text: String) {
        print(text)
        fflush(nil)
    }
}

/// Bodies and digests that follow from a number, so that another process knows them.
enum CacheContent {
    static func digest(_ number: Int) -> CacheDigest {
        CacheDigest(UInt64(number) &* 0x9E37_79B9_7F4A_7C15, UInt64(number))
    }

    /// From a few bytes to many chunks' worth; the same for some numbers, as their bodies are.
    static func length(_ number: Int) -> Int {
        switch number % 10 {
        case 0: 40_000
        case 1: 1_500_000
        case 2: 16_385
        default: 100 * (number % 97)
        }
    }

    static func body(_ number: Int, _ length: Int) -> [UInt8] {
        // Neighbours of a kind share a body, so blobs have several records.
        var numbers = Numbers(state: UInt64(number / 100))
        let word = numbers.next()
        return [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
            for index in 0..<length {
                buffer[index] = UInt8(truncatingIfNeeded: (word >> UInt64(index & 31)) &+ UInt64(index >> 8))
            }
            count = length
        }
    }

    struct Numbers {
        var state: UInt64

        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return (state >> 33) ^ state >> 7
        }
    }
}

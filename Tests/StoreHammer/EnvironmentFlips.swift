import Glibc
import TestSupport
import TrawlStore

extension EnvironmentModes {
    /// Changes bits of a copy of a data file, and uses the environment: it must neither crash, nor hang, nor give out a
    /// row as whole that is not. Says each round before it begins, so that a crash has a number.
    ///
    /// `kind` is "closed" for damage between two openings, "open" for damage while it is open, "late" for damage after
    /// the structure was checked, "blind" for the same when nothing is read before the next write.
    static func flips(_ kind: String, _ directory: String, seed: UInt64, rounds: Range<UInt64>) throws {
        let pristine = try bytes(of: directory + "/pristine")
        var outcomes: [String: Int] = [:]
        for round in rounds {
            say("round \(round)")
            var random = SeededGenerator(seed: seed &+ round &* 0x1_0001)
            let place = directory + "/copy"
            mkdir(place, 0o700)
            for name in ["data.mdb", "lock.mdb", "environment.lock"] { unlink(place + "/" + name) }
            var damaged = pristine
            let flips = flips(in: pristine, &random)
            for (offset, mask) in flips { damaged[offset] ^= mask }
            if kind == "closed" {
                try write(damaged, to: place + "/data.mdb")
                // As an earlier use in this boot left it, so that nothing but the damage is new.
                try write(Array("trawl-environment 1\nboot flips\n".utf8), to: place + "/environment.lock")
                outcomes[try use(place, rebuildable: round % 8 != 0, random: &random) {}, default: 0] += 1
            } else {
                try write(pristine, to: place + "/data.mdb")
                try write(Array("trawl-environment 1\nboot flips\n".utf8), to: place + "/environment.lock")
                outcomes[
                    try use(
                        place, rebuildable: true, writesFirst: kind == "late" || kind == "blind",
                        readsFirst: kind != "blind", random: &random
                    ) {
                        let file = open(place + "/data.mdb", O_RDWR | O_CLOEXEC)
                        for (offset, _) in flips { pwrite(file, &damaged[offset], 1, off_t(offset)) }
                        close(file)
                    }, default: 0] += 1
            }
        }
        say("done \(outcomes.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " "))")
    }

    /// One to three bits; half of the rounds aim at headers and pointers, where LMDB would follow them.
    private static func flips(in bytes: [UInt8], _ random: inout SeededGenerator) -> [(Int, UInt8)] {
        let pages = bytes.count / 4096
        return (0..<Int.random(in: 1...3, using: &random)).map { _ in
            let mask: UInt8 = 1 << UInt8.random(in: 0..<8, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0: return (Int.random(in: 0..<bytes.count, using: &random), mask)
            case 1:
                return (Int.random(in: 0..<pages, using: &random) * 4096 + Int.random(in: 0..<48, using: &random), mask)
            case 2:
                return (Int.random(in: 0..<2, using: &random) * 4096 + Int.random(in: 0..<152, using: &random), mask)
            default:
                // A node's header, wherever the page says one is.
                let page = Int.random(in: 2..<pages, using: &random) * 4096
                let slot = page + 16 + 2 * Int.random(in: 0..<20, using: &random)
                let offset = Int(bytes[slot]) | Int(bytes[slot + 1]) << 8
                return (page + min(offset, 4080) + Int.random(in: 0..<16, using: &random), mask)
            }
        }
    }

    /// Reads, writes, deletes and reads again.
    private static func use(
        _ directory: String, rebuildable: Bool, writesFirst: Bool = false, readsFirst: Bool = true,
        random: inout SeededGenerator, damage: () -> Void
    ) throws -> String {
        var settings = settings()
        settings.isRebuildable = rebuildable
        settings.bootIdentity = "flips"
        let environment: Environment
        do throws(StoreError) {
            environment = try Environment.open(directory: directory, settings: settings)
        } catch {
            guard case .damaged = error, !rebuildable else {
                if case .newerFormat = error { return "refused" }
                throw error
            }
            return "refused"
        }
        defer { environment.close() }
        if writesFirst {
            try environment.write { transaction throws(StoreError) in try put(transaction, 1, version: 1) }
        }
        damage()
        var seen = readsFirst ? try readAll(environment) : "unread"
        let generation = environment.generation
        do throws(StoreError) {
            for step in 0..<6 {
                let keys = (0..<40).map { _ in UInt64.random(in: 0..<6000, using: &random) }
                try environment.write { transaction throws(StoreError) in
                    for key in keys {
                        // The bytes lie where they say, whatever they are.
                        if let value = try transaction.get(numbers, key) { _ = SampleRow.version(value, key) }
                        if key % 3 == 0 {
                            try transaction.delete(numbers, key)
                        } else {
                            try put(transaction, key, version: UInt64(step))
                        }
                    }
                    for key in keys[0]..<keys[0] + 100 { try transaction.delete(numbers, key) }
                    var left = 20
                    try transaction.scan(numbers, from: keys[2]) { key, value in
                        _ = SampleRow.version(value, key)
                        left -= 1
                        return left > 0
                    }
                    let last = try transaction.last(numbers)?.key ?? 0
                    if last < UInt64.max {
                        try transaction.append(numbers, last + 1, count: 2500) {
                            SampleRow.fill($0, last + 1, version: 1)
                        }
                    }
                    if step == 4 { try transaction.clear(names) }
                    try withUnsafeBytes(of: keys[1]) { key throws(StoreError) in try transaction.put(names, key, key) }
                }
                // What was just written is there.
                try environment.read { snapshot throws(StoreError) in
                    for key in Set(keys) where key % 3 != 0 && !(keys[0]..<keys[0] + 100).contains(key) {
                        let value = try snapshot.get(numbers, key)
                        // Keys that changed behind LMDB's back hide others, also from LMDB.
                        if writesFirst { continue }
                        guard let value, SampleRow.version(value, key) == UInt64(step) else {
                            throw .unfit("row \(key) of step \(step) is gone")
                        }
                    }
                }
            }
        } catch {
            switch error {
            case .damaged: seen = rebuildable ? "live" : "refused later"
            // LMDB was led astray after its pages were checked; it is looked at before the next write.
            case .diskFull, .system, .library: if writesFirst { seen = "astray" } else { throw error }
            default: throw error
            }
        }
        if environment.generation != generation { return seen + " rebuilt" }
        return seen + " kept"
    }

    private static func readAll(_ environment: Environment) throws -> String {
        var broken = 0
        var isDamaged = false
        func tolerate(_ body: () throws(StoreError) -> Void) throws {
            do throws(StoreError) { try body() } catch {
                guard case .damaged = error else { throw error }
                isDamaged = true
            }
        }
        try tolerate { () throws(StoreError) in
            try environment.read { snapshot throws(StoreError) in
                try snapshot.scan(numbers) { key, value throws(StoreError) in
                    if SampleRow.version(value, key) == nil { broken += 1 }
                    return true
                }
            }
        }
        for key in stride(from: 0, to: 7000 as UInt64, by: 7) {
            try tolerate { () throws(StoreError) in
                try environment.read { snapshot throws(StoreError) in
                    if let value = try snapshot.get(numbers, key), SampleRow.version(value, key) == nil { broken += 1 }
                }
            }
        }
        try tolerate { () throws(StoreError) in
            try environment.read { snapshot throws(StoreError) in
                try snapshot.scan(names, from: UnsafeRawBufferPointer(start: nil, count: 0)) {
                    _, _ throws(StoreError) in
                    true
                }
                _ = try snapshot.last(numbers)
                _ = try snapshot.usedPages
            }
        }
        return isDamaged ? "damaged" : broken > 0 ? "rows" : "unseen"
    }

    private static func bytes(of path: String) throws -> [UInt8] {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw StoreError.unfit("no \(path)") }
        defer { close(file) }
        var facts = stat()
        fstat(file, &facts)
        var bytes = [UInt8](repeating: 0, count: Int(facts.st_size))
        guard read(file, &bytes, bytes.count) == bytes.count else { throw StoreError.unfit("cannot read \(path)") }
        return bytes
    }

    private static func write(_ bytes: [UInt8], to path: String) throws {
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        defer { close(file) }
        guard file >= 0, Glibc.write(file, bytes, bytes.count) == bytes.count else {
            throw StoreError.unfit("cannot write \(path)")
        }
    }
}

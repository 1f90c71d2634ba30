import Glibc
import TrawlCrypto
import TrawlHTTP
import TrawlPlatform

/// A vault in one file, sealed with a key made of a passphrase.
///
/// The file is readable by its owner alone, replaced as a whole when something changes, and says nothing without the
/// passphrase: neither hosts nor how many entries there are beyond its size. Several processes may use it at once.
///
/// The file: `TRAWLVT1`, a byte for the cost of scrypt, 16 bytes of salt, then what `SealingKey.seal` makes of the
/// entries with all of that before it as context. An entry is, each after its length in 32 bits (big endian): flags (1
/// byte: 1 proxy, 2 a realm, 4 a token), scheme, host, port in decimal, realm, user, domain, secret.
public final class SealedFileVault: CredentialVault, AnsweringVault {
    /// Why a vault cannot be used.
    public enum Fault: Error, Sendable, Hashable {
        /// The passphrase is another one, or the file was changed.
        case wrongPassphrase
        /// The file is no vault, or of a later version.
        case notAVault
        /// The file cannot be read or written: an `errno`.
        case system(Int32)
        /// libcrypto is missing.
        case noCryptography
    }

    private struct Entry {
        var item: VaultItem
        var credential: Credential
    }

    private static let magic = Array("TRAWLVT1".utf8)
    private static let saltSize = 16
    private static let headerSize = 8 + 1 + saltSize
    private static let mostBytes = 16 << 20

    /// The file itself: what it is locked and replaced beside, whatever links lead there.
    private let path: String
    private let header: [UInt8]
    private let key: SealingKey
    private let lastFault = Guarded<Fault?>(nil)
    /// For so long a change waits for that of another.
    private static let patience = Duration.seconds(10)

    /// Opens a vault, or makes an empty one when there is no file.
    ///
    /// Takes about a tenth of a second and 32 MiB, on purpose; to make one twice the time.
    /// - Parameters:
    ///   - path: The file, or a link to it; its directory must exist.
    ///   - passphrase: Whatever opens it.
    /// - Throws: Why the vault cannot be used; ``Fault/wrongPassphrase`` when the file is not sealed with this one.
    public init(path: String, passphrase: String) throws(Fault) {
        // The lock beside it would be made in the working directory, or beside another file.
        guard !path.isEmpty, !path.utf8.contains(0) else { throw .system(EINVAL) }
        let place: String
        do throws(SystemError) {
            place = try WholeFile.place(of: path)
        } catch {
            throw .system(error.errno)
        }
        self.path = place
        let found: [UInt8]
        if let known = try Self.read(place) { found = known } else { found = try Self.make(place, passphrase) }
        guard found.count >= Self.headerSize, found.starts(with: Self.magic) else { throw .notAVault }
        let header = Array(found[..<Self.headerSize])
        self.header = header
        guard SealingKey.costs.contains(header[8]) else { throw .notAVault }
        guard let key = SealingKey(passphrase: passphrase, salt: Array(header.suffix(Self.saltSize)), cost: header[8])
        else { throw SealingKey.isAvailable ? .system(ENOMEM) : .noCryptography }
        self.key = key
        _ = try entries(found)
    }

    /// The credentials of a space, or nil when there are none, or nothing can be had. Of several users' the latest,
    /// unless the item names one.
    public func credential(for item: VaultItem) async -> Credential? {
        await onThread { [self] () -> Credential? in
            // Replaced as a whole, the file needs no lock to be read.
            let entries = (try? self.entries(try Self.read(path))) ?? []
            let found = entries.last { item.includes($0.item) } ?? entries.last { item.withoutRealm.includes($0.item) }
            return found?.credential
        } ?? nil
    }

    /// Why ``save(_:for:)`` or ``remove(_:)`` last did nothing; nil when they always did what they should.
    public var problem: Fault? { lastFault.withLock { $0 } }

    /// Keeps credentials, in place of others of their space; ``problem`` tells what failed.
    public func save(_ credential: Credential, for item: VaultItem) async {
        _ = await keep(credential, for: item)
    }

    func keep(_ credential: Credential, for item: VaultItem) async -> String? {
        await noting { [self] () throws(Fault) in try store(credential, for: item) }?.text
    }

    /// Forgets the credentials of a space, or of one user there; ``problem`` tells what failed.
    public func remove(_ item: VaultItem) async {
        _ = await noting { [self] () throws(Fault) in try delete(item) }
    }

    /// What is kept.
    public func items() async -> [VaultItem] {
        await onThread { [self] () -> [VaultItem] in ((try? list()) ?? []).map(\.item) } ?? []
    }

    /// Keeps credentials, in place of others of their space; of those of that user alone, when the item names one.
    ///
    /// Waits for the disk, and up to ten seconds for another change.
    ///
    /// - Throws: Why nothing is kept; `EWOULDBLOCK` when another change takes too long.
    public func store(_ credential: Credential, for item: VaultItem) throws(Fault) {
        var place = item
        place.user = credential.user
        let kept = place
        try change { entries in
            entries.removeAll { item.includes($0.item) || $0.item.isSame(as: kept) }
            entries.append(Entry(item: kept, credential: credential))
        }
    }

    /// Forgets credentials of a space, or of one user there. Waits as ``store(_:for:)`` does.
    ///
    /// - Returns: Whether there were any.
    /// - Throws: As ``store(_:for:)``: nothing is forgotten then.
    @discardableResult
    public func delete(_ item: VaultItem) throws(Fault) -> Bool {
        var isFound = false
        try change { entries in
            isFound = entries.contains { item.includes($0.item) }
            entries.removeAll { item.includes($0.item) }
        }
        return isFound
    }

    /// Forgets the credentials of a server or proxy, for whatever realms they are.
    ///
    /// - Returns: Whether there were any.
    /// - Throws: As ``store(_:for:)``: nothing is forgotten then.
    @discardableResult
    public func deleteAll(of item: VaultItem) throws(Fault) -> Bool {
        let place = item.withoutRealm
        var isFound = false
        try change { entries in
            isFound = entries.contains { place.includes($0.item.withoutRealm) }
            entries.removeAll { place.includes($0.item.withoutRealm) }
        }
        return isFound
    }

    /// What is kept, each with its user; nil for a token.
    ///
    /// - Throws: Why the vault cannot be read.
    public func list() throws(Fault) -> [(item: VaultItem, user: String?)] {
        try entries(try Self.read(path)).map { ($0.item, $0.credential.user) }
    }

    /// Runs `body` on a thread of its own, since it waits for disks and for others; nil when there is no thread.
    private func onThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value? {
        await withCheckedContinuation { (continuation: CheckedContinuation<Value?, Never>) in
            let thread = try? NamedThread.start(name: "trawl-vault") { continuation.resume(returning: body()) }
            if thread == nil { continuation.resume(returning: nil) }
        }
    }

    /// Makes a change on a thread of its own, and notes why it could not be made.
    private func noting(_ change: @escaping @Sendable () throws(Fault) -> Void) async -> Fault? {
        let ended = await onThread { () -> Fault? in
            do throws(Fault) {
                try change()
                return nil
            } catch {
                return error
            }
        }
        // Without an answer there was no thread.
        let fault: Fault? = if let ended { ended } else { .system(EAGAIN) }
        if let fault { lastFault.withLock { $0 = fault } }
        return fault
    }

    // MARK: - The file

    /// Makes an empty vault. Of several who do at the same time one has its way, and the others use what it has made.
    ///
    /// - Returns: What is there then.
    private static func make(_ path: String, _ passphrase: String) throws(Fault) -> [UInt8] {
        let lock = try Self.lock(path)
        defer { withExtendedLifetime(lock) {} }
        if let made = try read(path) { return made }
        var random = SystemRandomNumberGenerator()
        let salt = (0..<saltSize).map { _ in UInt8.random(in: 0...255, using: &random) }
        let header = magic + [15] + salt
        guard let key = SealingKey(passphrase: passphrase, salt: salt, cost: header[8]),
            let sealed = [UInt8]().withUnsafeBytes({ key.seal($0, context: header) })
        else { throw .noCryptography }
        try put(header + sealed, at: path)
        return header + sealed
    }

    private func change(_ body: (inout [Entry]) -> Void) throws(Fault) {
        let lock = try Self.lock(path)
        defer { withExtendedLifetime(lock) {} }
        var entries = try self.entries(try Self.read(path))
        body(&entries)
        try write(entries)
    }

    private func entries(_ file: [UInt8]?) throws(Fault) -> [Entry] {
        guard let file else { return [] }
        guard file.count > Self.headerSize, Array(file[..<Self.headerSize]) == header else { throw .wrongPassphrase }
        let plain = file[Self.headerSize...].withUnsafeBytes { key.open($0, context: header) }
        guard var plain else { throw .wrongPassphrase }
        defer { plain.withUnsafeMutableBytes(wipe) }
        // Nothing keeps the bytes, so that these are the ones that are wiped.
        let found = plain.withUnsafeBytes { (bytes) -> [Entry]? in
            var entries: [Entry] = []
            var rest = bytes[...]
            while !rest.isEmpty {
                guard let entry = Self.entry(&rest) else { return nil }
                entries.append(entry)
            }
            return entries
        }
        guard let found else { throw .notAVault }
        return found
    }

    private func write(_ entries: [Entry]) throws(Fault) {
        var plain: [UInt8] = []
        // Grown, it would leave copies that nobody wipes.
        plain.reserveCapacity(entries.reduce(0) { $0 + Self.size(of: $1) })
        defer { plain.withUnsafeMutableBytes(wipe) }
        for entry in entries { Self.append(entry, to: &plain) }
        guard let sealed = plain.withUnsafeBytes({ key.seal($0, context: header) }) else { throw .noCryptography }
        try Self.put(header + sealed, at: path)
    }

    private static func put(_ file: [UInt8], at path: String) throws(Fault) {
        do throws(SystemError) {
            try WholeFile.write(file, to: path, syncs: true)
        } catch {
            throw .system(error.errno)
        }
    }

    /// One who changes at a time, in all processes; the file itself is replaced, so another is held.
    ///
    /// - Throws: `EWOULDBLOCK` when another does not come to its end.
    private static func lock(_ path: String) throws(Fault) -> Descriptor {
        let opened = open(path + ".lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard opened >= 0 else { throw .system(errno) }
        let file = Descriptor(adopting: opened)
        let locked = FileLock.take(file.rawValue, within: patience)
        guard locked == 0 else { throw .system(locked) }
        return file
    }

    private static func read(_ path: String) throws(Fault) -> [UInt8]? {
        let opened = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
        if opened < 0 {
            if errno == ENOENT { return nil }
            throw .system(errno)
        }
        let file = Descriptor(adopting: opened)
        var info = stat()
        guard fstat(file.rawValue, &info) == 0 else { throw .system(errno) }
        guard info.st_mode & S_IFMT == S_IFREG, info.st_size <= mostBytes else { throw .notAVault }
        var bytes = [UInt8](repeating: 0, count: Int(info.st_size))
        let count = pread(file.rawValue, &bytes, bytes.count, 0)
        guard count == bytes.count else { throw count < 0 ? .system(errno) : .notAVault }
        return bytes
    }

    // MARK: - Entries

    private static func texts(of entry: Entry) -> [String] {
        let (item, credential) = (entry.item, entry.credential)
        return [
            item.scheme, item.host, String(item.port), item.realm ?? "", credential.user ?? "", credential.domain,
            credential.secret ?? "",
        ]
    }

    /// What `append` appends: eight parts, the flags one of them.
    private static func size(of entry: Entry) -> Int {
        texts(of: entry).reduce(8 * 4 + 1) { $0 + $1.utf8.count }
    }

    private static func append(_ entry: Entry, to bytes: inout [UInt8]) {
        let (item, credential) = (entry.item, entry.credential)
        append(count: 1, to: &bytes)
        bytes.append((item.isProxy ? 1 : 0) | (item.realm != nil ? 2 : 0) | (credential.isBearer ? 4 : 0))
        for text in texts(of: entry) {
            append(count: text.utf8.count, to: &bytes)
            bytes.append(contentsOf: text.utf8)
        }
    }

    private static func append(count: Int, to bytes: inout [UInt8]) {
        for shift in [24, 16, 8, 0] { bytes.append(UInt8(truncatingIfNeeded: count >> shift)) }
    }

    private static func entry(_ bytes: inout Slice<UnsafeRawBufferPointer>) -> Entry? {
        var parts: [Slice<UnsafeRawBufferPointer>] = []
        for _ in 0..<8 {
            guard bytes.count >= 4 else { return nil }
            let count = bytes.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            bytes = bytes.dropFirst(4)
            guard bytes.count >= count else { return nil }
            parts.append(bytes.prefix(count))
            bytes = bytes.dropFirst(count)
        }
        guard let flags = parts[0].first else { return nil }
        let texts = parts.dropFirst().map { String(decoding: $0, as: UTF8.self) }
        guard let port = Int(texts[2]) else { return nil }
        let credential =
            flags & 4 != 0
            ? Credential(bearer: texts[6], persistence: .permanent)
            : Credential(user: texts[4], password: texts[6], domain: texts[5], persistence: .permanent)
        let item = VaultItem(
            scheme: texts[0], host: texts[1], port: port, realm: flags & 2 == 0 ? nil : texts[3],
            isProxy: flags & 1 != 0, user: credential.user)
        return Entry(item: item, credential: credential)
    }
}

extension SealedFileVault.Fault {
    fileprivate var text: String {
        switch self {
        case .wrongPassphrase: "the passphrase is another one, or the file was changed"
        case .notAVault: "the file is no vault, or of a later version"
        case .system(let number): SystemError.text(of: number)
        case .noCryptography: "libcrypto is missing"
        }
    }
}

extension VaultItem {
    fileprivate var withoutRealm: VaultItem {
        var item = self
        item.realm = nil
        return item
    }

    /// Whether what is kept is of this space, and of this user if one is named.
    fileprivate func includes(_ kept: VaultItem) -> Bool {
        var kept = kept
        if user == nil { kept.user = nil }
        return kept.isSame(as: self)
    }

    /// Whether it is another byte for byte: two users are two also where their names are one to Unicode.
    fileprivate func isSame(as other: VaultItem) -> Bool { self == other && texts == other.texts }

    private var texts: [ExactText?] { [realm, user].map { $0.map { ExactText($0) } } }
}

package import TrawlHTTP
package import TrawlSession

/// The hosts that have asked for secure transport only: the table `hosts`, its keys their names.
package enum HostTable {
    /// How many a store keeps; those that end first make room.
    package static let limit = 10_000
    /// Bytes of a row's content: version, flags, six that are zero, and when the host is forgotten.
    private static let length = 16
    static let version: UInt8 = 1
    private static let includesSubdomains: UInt8 = 1

    /// All that can be read.
    package static func all(_ snapshot: borrowing Snapshot) throws(StoreError) -> [KnownSecureHost] {
        var hosts: [KnownSecureHost] = []
        try snapshot.scan(StateSchema.hosts, from: UnsafeRawBufferPointer(start: nil, count: 0)) { name, row in
            if let host = host(name, row) { hosts.append(host) }
            return true
        }
        return hosts
    }

    /// The host of that very name, if it is known.
    package static func host(
        named name: String, _ snapshot: borrowing Snapshot
    ) throws(StoreError) -> KnownSecureHost? {
        try Array(name.utf8).span.withUnsafeBytes { (name) throws(StoreError) -> KnownSecureHost? in
            guard let row = try snapshot.get(StateSchema.hosts, name) else { return nil }
            return host(name, row)
        }
    }

    /// Makes the changes of responses, in their order.
    package static func make(
        _ changes: [TransportSecurity.Change], at now: WallTime, in transaction: borrowing Transaction
    ) throws(StoreError) {
        var hasChanged = false
        for change in changes {
            let isNew =
                switch change {
                case .keep(let host): try put(host, in: transaction)
                case .forget(let name):
                    try Array(name.utf8).span.withUnsafeBytes { (name) throws(StoreError) in
                        try transaction.delete(StateSchema.hosts, name)
                    }
                }
            if isNew { hasChanged = true }
        }
        guard hasChanged else { return }
        if try transaction.statistics(StateSchema.hosts).rows > limit { try makeRoom(at: now, in: transaction) }
        transaction.requestSync()
    }

    /// Whether it was not there as it is.
    private static func put(
        _ host: KnownSecureHost, in transaction: borrowing Transaction
    ) throws(StoreError) -> Bool {
        var content = [UInt8](repeating: 0, count: length)
        content[0] = version
        content[1] = host.includesSubdomains ? includesSubdomains : 0
        content.withUnsafeMutableBytes {
            $0.storeBytes(of: host.expires.milliseconds.littleEndian, toByteOffset: 8, as: Int64.self)
        }
        return try Array(host.name.utf8).span.withUnsafeBytes { (name) throws(StoreError) in
            if let row = try transaction.get(StateSchema.hosts, name), Self.host(name, row) == host { return false }
            try content.span.withUnsafeBytes { (content) throws(StoreError) in
                try CheckedRow.withRow(of: content) { row throws(StoreError) in
                    try transaction.put(StateSchema.hosts, name, row)
                }
            }
            return true
        }
    }

    /// Removes what is over or damaged, and of the rest what ends first, until nine tenths are left.
    private static func makeRoom(at now: WallTime, in transaction: borrowing Transaction) throws(StoreError) {
        var living: [(expires: WallTime, name: [UInt8])] = []
        var gone: [[UInt8]] = []
        try transaction.scan(StateSchema.hosts, from: UnsafeRawBufferPointer(start: nil, count: 0)) { name, row in
            if let host = host(name, row), host.expires > now {
                living.append((host.expires, Array(name)))
            } else {
                gone.append(Array(name))
            }
            return true
        }
        let excess = living.count - limit * 9 / 10
        if excess > 0 {
            living.sort { $0.expires < $1.expires }
            gone += living[..<excess].map(\.name)
        }
        for name in gone {
            try name.span.withUnsafeBytes { (name) throws(StoreError) in
                _ = try transaction.delete(StateSchema.hosts, name)
            }
        }
    }

    private static func host(_ name: UnsafeRawBufferPointer, _ row: UnsafeRawBufferPointer) -> KnownSecureHost? {
        guard let content = CheckedRow.content(row), content.count == length, content[0] == version else { return nil }
        let expires = Int64(littleEndian: content.loadUnaligned(fromByteOffset: 8, as: Int64.self))
        return KnownSecureHost(
            name: FieldLines.text(name), expires: WallTime(milliseconds: expires),
            includesSubdomains: content[1] & includesSubdomains != 0)
    }
}

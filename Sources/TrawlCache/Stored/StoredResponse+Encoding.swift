package import TrawlHTTP

// The record of a stored response: a fixed part, then five texts. All integers are little endian.
//
//      0  version of the format (8 bits)        72  tag of the credentials (2 x 64)
//      1  HTTP version (8)                      88  body: first (64)
//      2  status (16)                           96  body: length (64)
//      4  flags (32)                           104  body: total (64)
//      8  request time (64)                    112  seconds to cache (64)
//     16  response time (64)                   120  lengths of key, selecting fields, reason, fields and
//     24  date (64)                                 metadata (5 x 32)
//     32  last modified (64)                   140  reserved, 0 (32)
//     40  initial age (64)                     144  the five texts
//     48  lifetime (64)
//     56  stale while revalidate (64)
//     64  stale if error (64)

extension StoredResponse {
    /// The record, to be followed by whatever the store puts behind it.
    package func encoded() -> [UInt8] {
        var reason = head.reason
        var key = key.text
        return reason.withUTF8 { reason in
            key.withUTF8 { key in
                selecting.packed.withUnsafeBytes { selecting in
                    head.fields.packed.withUnsafeBytes { fields in
                        metadata.withUnsafeBytes { metadata in
                            encoded(
                                UnsafeRawBufferPointer(key), selecting, UnsafeRawBufferPointer(reason),
                                fields, metadata)
                        }
                    }
                }
            }
        }
    }

    private func encoded(
        _ key: UnsafeRawBufferPointer, _ selecting: UnsafeRawBufferPointer, _ reason: UnsafeRawBufferPointer,
        _ fields: UnsafeRawBufferPointer, _ metadata: UnsafeRawBufferPointer
    ) -> [UInt8] {
        let length =
            StoredView.fixedLength + key.count + selecting.count + reason.count + fields.count + metadata.count
        return [UInt8](unsafeUninitializedCapacity: length) { buffer, initialized in
            var writer = RecordWriter(buffer: UnsafeMutableRawBufferPointer(buffer))
            facts.encode(into: &writer, isOverridden: secondsToCache != nil)
            writer.append(secondsToCache ?? 0)
            writer.append(UInt32(truncatingIfNeeded: key.count))
            writer.append(UInt32(truncatingIfNeeded: selecting.count))
            writer.append(UInt32(truncatingIfNeeded: reason.count))
            writer.append(UInt32(truncatingIfNeeded: fields.count))
            writer.append(UInt32(truncatingIfNeeded: metadata.count))
            writer.append(UInt32(0))
            writer.append(contentsOf: key)
            writer.append(contentsOf: selecting)
            writer.append(contentsOf: reason)
            writer.append(contentsOf: fields)
            writer.append(contentsOf: metadata)
            initialized = writer.count
        }
    }

    /// The stored response of a record, copied.
    ///
    /// - Parameter fields: Its fields, where they were read already.
    package init(_ view: StoredView, fields: FieldLines? = nil) throws(RecordError) {
        guard let key = FieldLines.utf8Text(view.key), let reason = FieldLines.utf8Text(view.reason),
            let fields = fields ?? view.storedFields()
        else { throw .invalid }
        let facts = view.facts
        self.init(
            key: CacheKey(text: key),
            head: ResponseHead(status: facts.status, version: facts.version, reason: reason, fields: fields),
            selecting: SelectingFields(packed: view.selecting), facts: facts, secondsToCache: view.secondsToCache,
            metadata: Array(view.metadata))
    }
}

extension StoredFacts {
    fileprivate func encode(into bytes: inout RecordWriter, isOverridden: Bool) {
        var flags = flags
        flags.set(.complete, body.isComplete)
        flags.set(.reachesEnd, body.reachesEnd)
        flags.set(.totalKnown, body.total != nil)
        flags.set(.overridden, isOverridden)
        bytes.append(StoredView.version)
        bytes.append(version.rawValue)
        bytes.append(status)
        bytes.append(flags.rawValue)
        bytes.append(requestTime.milliseconds)
        bytes.append(responseTime.milliseconds)
        bytes.append(date.milliseconds)
        bytes.append(lastModified.milliseconds)
        bytes.append(initialAge)
        bytes.append(lifetime)
        bytes.append(staleWhileRevalidate)
        bytes.append(staleIfError)
        bytes.append(credentials.high)
        bytes.append(credentials.low)
        bytes.append(body.first)
        bytes.append(body.length)
        bytes.append(body.total ?? 0)
    }

    /// The facts at the start of a record of at least the fixed length.
    init(record: UnsafeRawBufferPointer) throws(RecordError) {
        guard let version = HTTPVersion(rawValue: record[1]) else { throw .invalid }
        let status = record.integer(at: 2, as: UInt16.self)
        guard status >= 100, status < 1000 else { throw .invalid }
        let flags = Flags(rawValue: record.integer(at: 4, as: UInt32.self))
        let length = record.integer(at: 96, as: UInt64.self)
        let total = flags.contains(.totalKnown) ? record.integer(at: 104, as: UInt64.self) : nil
        let first = record.integer(at: 88, as: UInt64.self)
        var body = BodyExtent.complete(length: length)
        if !flags.contains(.complete) {
            guard
                let part = BodyExtent.part(
                    first: first, length: length, total: total, reachesEnd: flags.contains(.reachesEnd))
            else { throw .invalid }
            body = part
        } else if first != 0 || total != length || !flags.contains(.reachesEnd) {
            throw .invalid
        }
        self.init(
            status: status, version: version, flags: flags,
            requestTime: WallTime(milliseconds: record.integer(at: 8, as: Int64.self)),
            responseTime: WallTime(milliseconds: record.integer(at: 16, as: Int64.self)),
            date: WallTime(milliseconds: record.integer(at: 24, as: Int64.self)),
            lastModified: WallTime(milliseconds: record.integer(at: 32, as: Int64.self)),
            initialAge: record.integer(at: 40, as: Int64.self), lifetime: record.integer(at: 48, as: Int64.self),
            staleWhileRevalidate: record.integer(at: 56, as: Int64.self),
            staleIfError: record.integer(at: 64, as: Int64.self),
            credentials: SecretTag(
                high: record.integer(at: 72, as: UInt64.self), low: record.integer(at: 80, as: UInt64.self)),
            body: body)
    }
}

extension StoredFacts.Flags {
    /// Puts a flag in or takes it out.
    mutating func set(_ flag: StoredFacts.Flags, _ isOn: Bool) {
        if isOn { insert(flag) } else { remove(flag) }
    }
}

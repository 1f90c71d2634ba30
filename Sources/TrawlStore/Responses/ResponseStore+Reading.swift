package import TrawlCache
package import TrawlHTTP

/// A stored response with its body, which outlives its record.
package struct StoredItem: Sendable {
    /// What is stored, but for the body.
    package let response: StoredResponse
    /// The body, content codings still on; nil when it is empty.
    package let body: StoredBody?
    /// Which record it is.
    package let use: CacheUse
}

extension ResponseStore {
    /// What is stored under a URL: the newest response that is whole, else the newest part of one.
    ///
    /// Neither freshness nor what requests and responses say about reuse counts.
    ///
    /// - Parameter fields: Those of a request that must select it, by `Vary` and by its credentials; nil takes any
    ///   variant.
    /// - Returns: The response, if there is one, and how many variants there are.
    /// - Throws: When its body is not to be had, and `damaged` where all that is there is damaged.
    package func item(
        under key: CacheKey, selectedBy fields: FieldLines?
    ) throws(BodyLoss) -> (item: StoredItem?, variants: Int) {
        let request = fields.flatMap { fields in
            TargetURI(key: key).map { CacheRequest(method: .get, target: $0, fields: fields, tag: rules.tag) }
        }
        if fields != nil, request == nil { return (nil, 0) }
        do throws(BodyLoss) {
            return try item(under: key, selectedBy: request)
        } catch {
            guard error == .gone else { throw error }
            // Something else may have taken its place.
            return try item(under: key, selectedBy: request)
        }
    }

    /// The same in one snapshot: the best whose body is whole.
    private func item(
        under key: CacheKey, selectedBy request: CacheRequest?
    ) throws(BodyLoss) -> (item: StoredItem?, variants: Int) {
        var found: StoredItem?
        var variants = 0
        var loss: BodyLoss?
        cache.read(CacheDigest(of: key)) { candidates in
            var whole: [(response: StoredResponse, record: StoredRecord)] = []
            var parts: [(response: StoredResponse, record: StoredRecord)] = []
            var isDamaged = false
            for index in 0..<candidates.count {
                guard let record = candidates.record(at: index) else {
                    isDamaged = true
                    continue
                }
                guard let view = try? StoredView(record.header), view.hasKey(key),
                    view.facts.body.length == record.bodyLength
                else { continue }
                variants += 1
                if let request, !view.isSelected(by: request, tag: rules.tag) { continue }
                guard let response = try? StoredResponse(view) else { continue }
                if view.facts.body.isComplete {
                    whole.append((response, record))
                } else {
                    parts.append((response, record))
                }
            }
            if isDamaged, variants == 0 { loss = .damaged }
            for candidate in whole + parts {
                do throws(BodyLoss) {
                    let body: StoredBody? = candidate.record.bodyLength > 0 ? try candidate.record.load() : nil
                    found = StoredItem(response: candidate.response, body: body, use: candidate.record.use)
                    loss = nil
                } catch {
                    loss = error
                }
                // What is damaged is as good as not there.
                if loss != .damaged { break }
            }
            return ()
        }
        if let loss { throw loss }
        return (found, variants)
    }

    /// A listed response with its body.
    package func item(of listing: StoredListing) throws(BodyLoss) -> StoredItem {
        if listing.bodyLength == 0 { return StoredItem(response: listing.response, body: nil, use: listing.use) }
        var body: StoredBody?
        var loss = BodyLoss.gone
        do throws(StoreError) {
            _ = try cache.look(listing.use.digest) { candidates in
                for index in 0..<candidates.count where candidates.sequence(at: index) == listing.use.sequence {
                    do throws(BodyLoss) {
                        guard let record = candidates.record(at: index) else { throw .damaged }
                        body = try record.load()
                    } catch {
                        loss = error
                    }
                }
                return ()
            }
        } catch {
            loss = .unreadable(error)
        }
        guard let body else { throw loss }
        return StoredItem(response: listing.response, body: body, use: listing.use)
    }
}

extension TargetURI {
    /// The target whose key this is; nil when no key of ours looks like that.
    package init?(key: CacheKey) {
        var text = key.text
        let parts: (scheme: String, host: String, port: UInt16?, path: Int, query: Int?)? = text.withUTF8 { bytes in
            let colon = UInt8(ascii: ":")
            let slash = UInt8(ascii: "/")
            guard let schemeEnd = bytes.firstIndex(of: colon), schemeEnd > 0,
                bytes[schemeEnd...].starts(with: "://".utf8)
            else { return nil }
            let start = schemeEnd + 3
            guard let path = bytes[start...].firstIndex(of: slash) else { return nil }
            var hostEnd = path
            var port: UInt16?
            // The colons of an IPv6 address stand in brackets (RFC 3986 §3.2.2).
            if let mark = bytes[start..<path].lastIndex(of: colon), bytes[path - 1] != UInt8(ascii: "]") {
                guard let number = UInt16(String(decoding: bytes[(mark + 1)..<path], as: UTF8.self)) else { return nil }
                port = number
                hostEnd = mark
            }
            guard hostEnd > start else { return nil }
            return (
                String(decoding: bytes[..<schemeEnd], as: UTF8.self),
                String(decoding: bytes[start..<hostEnd], as: UTF8.self), port, path,
                bytes[path...].firstIndex(of: UInt8(ascii: "?"))
            )
        }
        guard let parts else { return nil }
        let port = parts.port ?? (parts.scheme == "https" ? 443 : 80)
        self.init(
            origin: Origin(scheme: parts.scheme, host: parts.host, port: port), text: key.text, pathStart: parts.path,
            queryStart: parts.query)
    }
}

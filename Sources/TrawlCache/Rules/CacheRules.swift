// TrawlCache holds the rules of a private HTTP cache (RFC 9111) as values: which response may be stored, how long it is
// fresh, which stored one answers a request, what has to be asked, and the record all that is kept in. It must never
// read a clock, keep state or trap on what a server or a disk says.

package import TrawlHTTP

/// The rules of a private HTTP cache, as functions of requests, stored responses and the time.
///
/// Nothing here reads a clock, a file or the network. The caller keeps the records, sends what it is told to send and
/// reports what came; a request goes `prefers` (over the variants of its key) → `lookup` → either the stored response,
/// presented by `head(as:)`, or a request made with `fieldsToSend`, whose answer goes to `conclude` when there was a
/// stored response and to `storing` otherwise. After the body, `finished` makes the record.
///
/// - Source: RFC 9111; RFC 9110 §13, §14; RFC 5861; RFC 8246.
package struct CacheRules: Sendable {
    /// Makes tags of secrets, so that none is written into a record.
    package let tag: @Sendable (UnsafeRawBufferPointer) -> SecretTag

    /// Rules that make tags in this way. The function must be fast and must not depend on the time.
    package init(tag: @escaping @Sendable (UnsafeRawBufferPointer) -> SecretTag) {
        self.tag = tag
    }

    /// Whether a record is the one to use for a request, rather than the best one seen before.
    ///
    /// The newest of the matching ones is used (RFC 9111 §4), and before them those that came for the same
    /// credentials. Of parts that lie beside each other, the one that has the bytes asked for.
    ///
    /// - Parameter varying: The newest record of the key that has selecting fields, where there are several. One
    ///   without any, that is older, comes of a server that forgot `Vary` then, and answers nothing (RFC 9111 §4.1).
    package func prefers(
        _ view: StoredView, over best: StoredView?, beside varying: StoredFacts? = nil, for request: CacheRequest
    ) -> Bool {
        if let varying, !view.varies, varying.isNewer(than: view.facts) { return false }
        if let best {
            let isOwn = view.facts.ownCredentials == request.credentials
            let isBestOwn = best.facts.ownCredentials == request.credentials
            guard isOwn == isBestOwn ? isNearer(view, than: best, to: request) : isOwn else { return false }
        }
        guard request.concernsStored, view.hasKey(request.key), view.isSelected(by: request, tag: tag)
        else { return false }
        // A part of what is coded is not decoded for anybody (RFC 9110 §14.4).
        let decodes = request.decodesContent && !request.traits.contains(.range)
        return decodes || !view.facts.flags.contains(.coded) || acceptsCodings(of: view, request)
    }

    /// Whether a stored response is the one to use for a request rather than another one of the same credentials.
    private func isNearer(_ view: StoredView, than best: StoredView, to request: CacheRequest) -> Bool {
        if !view.facts.body.isComplete || !best.facts.body.isComplete {
            let difference = use(of: view, for: request) - use(of: best, for: request)
            if difference != 0 { return difference > 0 }
        }
        return view.facts.isNewer(than: best.facts)
    }

    /// How many of the bytes asked for are there: 2 all of them, 1 those before the missing ones, 0 none of use.
    private func use(of view: StoredView, for request: CacheRequest) -> Int {
        switch coverage(of: request, view.facts, fields: { view.storedFields() }) {
        case .whole, .part: 2
        case .missing: 1
        case .uncovered: 0
        }
    }

    /// The newest record of a request's key that has selecting fields, one record after the other; for `prefers`.
    package func newestVarying(_ newest: StoredFacts?, _ view: StoredView, for request: CacheRequest) -> StoredFacts? {
        guard view.varies, view.hasKey(request.key), newest.map({ view.facts.isNewer(than: $0) }) ?? true else {
            return newest
        }
        return view.facts
    }

    /// The fields to send for a request.
    package func fieldsToSend(_ request: CacheRequest, _ sending: Sending) -> FieldLines {
        if sending.fields.isEmpty { return request.fields }
        var fields = request.fields
        fields.removeAll { name in
            var isReplaced = false
            sending.fields.forEach { newName, _ in
                if FieldSyntax.equalIgnoringCase(newName, name) { isReplaced = true }
            }
            return isReplaced
        }
        fields.append(contentsOf: sending.fields)
        return fields
    }

    /// Whether a caller that gets bodies as they are takes the stored coding.
    ///
    /// By RFC 9110 §12.5.3 who says nothing takes anything. But who gets no coding from the origin wants none from
    /// here, and servers that choose by `Accept-Encoding` do not all say so in `Vary`.
    private func acceptsCodings(of view: StoredView, _ request: CacheRequest) -> Bool {
        guard request.traits.contains(.acceptEncoding) else { return view.facts.flags.contains(.codedUnasked) }
        guard let stored = view.storedFields() else { return true }
        var isAccepted = true
        stored.forEach { name, value in
            guard KnownField(name) == .contentEncoding else { return }
            value.forEachMember { coding in
                if !coding.isIdentity, !accepts(coding.currentCoding, request.fields) { isAccepted = false }
            }
        }
        return isAccepted
    }

    private func accepts(_ coding: UnsafeRawBufferPointer, _ fields: FieldLines) -> Bool {
        var exact: Bool?
        var any: Bool?
        fields.forEach { name, value in
            guard KnownField(name) == .acceptEncoding else { return }
            value.forEachMember { member in
                let end = member.firstIndex(of: .semicolon) ?? member.count
                let token = FieldSyntax.trimmed(member.part(0, end))
                let weight = FieldNormalisation.weight(FieldSyntax.trimmed(member.part(end + 1, member.count)))
                if FieldSyntax.equalIgnoringCase(token.currentCoding, coding) { exact = weight != 0 }
                if token.count == 1, token[0] == UInt8(ascii: "*") { any = weight != 0 }
            }
        }
        return exact ?? any ?? false
    }
}

extension UnsafeRawBufferPointer {
    /// Whether the name of a content coding is that of none: RFC 9110 §8.4 keeps `identity` for `Accept-Encoding`, and
    /// servers send it all the same.
    var isIdentity: Bool { isToken("identity") }

    /// The name of a content coding that is one today, for an old one of the same coding.
    ///
    /// - Source: RFC 9110 §8.4.1.1, §8.4.1.3.
    fileprivate var currentCoding: UnsafeRawBufferPointer {
        isToken("x-gzip") || isToken("x-compress") ? part(2, count) : self
    }
}

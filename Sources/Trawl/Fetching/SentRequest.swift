package import TrawlHTTP

/// The head of a request as a worker was told to send it. `Host` and what follows from the body are added there; what a
/// cache adds comes with ``FetchEvent/forwarded(_:)``.
package struct SentRequest: Sendable {
    /// The method.
    package let method: Method
    /// The target, without user information.
    package let target: TargetURI
    /// The field lines.
    package let fields: FieldLines
    /// The length of the body that goes along, or nil.
    package let bodyLength: Int?
    /// Whether a cache is asked first: nothing is sent then, unless ``FetchEvent/forwarded(_:)`` comes.
    package let passesCache: Bool

    /// The same with field lines of a cache, each in the place of those of its name.
    package func with(_ added: FieldLines) -> SentRequest {
        var fields = fields
        fields.removeAll { name in
            var isReplaced = false
            added.forEach { newName, _ in
                if FieldSyntax.equalIgnoringCase(newName, name) { isReplaced = true }
            }
            return isReplaced
        }
        fields.append(contentsOf: added)
        return SentRequest(
            method: method, target: target, fields: fields, bodyLength: bodyLength, passesCache: passesCache)
    }
}

package import TrawlHTTP

/// A request as the cache sees it, its caching fields read once.
///
/// Large, and handed on a good deal: an object that is never changed.
package final class CacheRequest: Sendable {
    /// What of the request matters and is cheap to ask.
    struct Traits: OptionSet, Sendable, Hashable {
        let rawValue: UInt16
        static let range = Traits(rawValue: 1)
        static let ifRange = Traits(rawValue: 2)
        static let ifNoneMatch = Traits(rawValue: 4)
        static let ifModifiedSince = Traits(rawValue: 8)
        /// `If-Match` or `If-Unmodified-Since`: meant for the origin alone.
        static let precondition = Traits(rawValue: 16)
        static let cacheControl = Traits(rawValue: 32)
        static let pragmaNoCache = Traits(rawValue: 64)
        static let authorization = Traits(rawValue: 128)
        static let body = Traits(rawValue: 256)
        static let otherScheme = Traits(rawValue: 512)
        /// `Host` names another authority than the target: what the target's URI stands for is not what is asked for.
        static let otherHost = Traits(rawValue: 1024)
        static let acceptEncoding = Traits(rawValue: 2048)
    }

    /// The method.
    package let method: Method
    /// Where the request goes.
    package let target: TargetURI
    /// What its stored responses are found by.
    package let key: CacheKey
    /// The fields as they would be sent, those of cookies and credentials among them.
    package let fields: FieldLines
    /// What the caller wants, with nothing left open.
    package let policy: CachePolicy
    /// Stands for the credentials the request carries, or nil when it has none.
    package let credentials: SecretTag?
    /// Whether the caller gets bodies with their content codings undone, and so takes any coding.
    package let decodesContent: Bool

    /// Whether the credentials are more than cookies.
    let isAuthorized: Bool
    /// Whether others than the system's choice answer: a `public` response is not for all then, nor one of all for this.
    let isPartitioned: Bool
    let traits: Traits
    let control: CacheControl
    let isGet: Bool
    let isHead: Bool

    /// A request of its parts.
    ///
    /// - Parameter credentials: Stands for what `Authorization` says, where that is known apart from the field (one of
    ///   Digest differs each time); by default the field's tag does.
    /// - Parameter partition: Stands for who answers the caller where that is not the system's choice, whom it trusts or
    ///   where names lead: what came from whom others ask is no answer for it, nor the other way round.
    /// - Parameter tag: Makes tags of secrets; called for those and `partition` only.
    package init(
        method: Method, target: TargetURI, fields: FieldLines, policy: CachePolicy = CachePolicy(),
        credentials: SecretTag? = nil, sharesCookies: Bool = false, partition: [UInt8] = [],
        hasBody: Bool = false, decodesContent: Bool = true, tag: (UnsafeRawBufferPointer) -> SecretTag
    ) {
        self.method = method
        self.target = target
        key = CacheKey(target)
        self.fields = fields
        self.policy = policy.resolved()
        self.decodesContent = decodesContent
        isGet = method == .get
        isHead = method == .head
        var traits: Traits = hasBody ? .body : []
        var control = CacheControl()
        var secrets = credentials
        fields.forEach { name, value in
            switch KnownField(name) {
            case .cacheControl:
                traits.insert(.cacheControl)
                control.read(value)
            case .pragma: if CacheControl.holdsNoCache(value) { traits.insert(.pragmaNoCache) }
            case .range: traits.insert(.range)
            case .ifRange: traits.insert(.ifRange)
            case .ifNoneMatch: traits.insert(.ifNoneMatch)
            case .ifModifiedSince: traits.insert(.ifModifiedSince)
            case .ifMatch, .ifUnmodifiedSince: traits.insert(.precondition)
            case .authorization:
                traits.insert(.authorization)
                if credentials == nil { secrets = tag(value).following(secrets) }
            // What a server answers to a cookie given by hand is as much one account's as what it answers to a
            // password.
            case .cookie where !sharesCookies: secrets = tag(value).following(secrets ?? SecretTag(high: 0, low: 1))
            case .acceptEncoding: traits.insert(.acceptEncoding)
            case .host: if !target.hasAuthority(FieldSyntax.trimmed(value)) { traits.insert(.otherHost) }
            default: break
            }
        }
        // HTTP/1.0's only directive counts when there is no other (RFC 9111 §5.4).
        if traits.contains(.pragmaNoCache), !traits.contains(.cacheControl) { control.flags.insert(.noCache) }
        let scheme = target.scheme
        if scheme != "https", scheme != "http" { traits.insert(.otherScheme) }
        self.traits = traits
        self.control = control
        isPartitioned = !partition.isEmpty
        if isPartitioned { secrets = partition.withUnsafeBytes(tag).following(secrets ?? SecretTag(high: 0, low: 2)) }
        isAuthorized = credentials != nil || traits.contains(.authorization) || isPartitioned
        self.credentials = secrets
    }

    /// Another request with a policy of its own.
    package init(_ other: CacheRequest, policy: CachePolicy) {
        self.policy = policy.resolved()
        (method, target, key, fields) = (other.method, other.target, other.key, other.fields)
        (credentials, isAuthorized, isPartitioned) = (other.credentials, other.isAuthorized, other.isPartitioned)
        (traits, control, isGet, isHead) = (other.traits, other.control, other.isGet, other.isHead)
        decodesContent = other.decodesContent
    }

    /// Whether its answer may be stored, or change what is stored (RFC 9111 §5.2.1.5). Invalidation is apart from that.
    package var mayWrite: Bool {
        !policy.options.contains(.doNotWrite)
            && !(policy.respectsCacheControl && control.flags.contains(.noStore))
    }

    /// Whether a stored response could be looked for at all: GET or HEAD without a body, by http or https, and without
    /// conditions that only the origin can judge.
    package var mayBeAnsweredFromStore: Bool { selects && !policy.options.contains(.doNotRead) }

    /// Whether a stored response is looked for though it may not answer: what the server says to HEAD may change it (RFC 9111
    /// §4.3.5).
    package var concernsStored: Bool { mayBeAnsweredFromStore || isHead && selects && mayWrite }

    /// Whether it is one of those that select a stored response.
    private var selects: Bool {
        (isGet || isHead) && traits.isDisjoint(with: [.body, .otherScheme, .otherHost, .precondition])
    }
}

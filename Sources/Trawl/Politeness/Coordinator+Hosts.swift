import TrawlFrontier
import TrawlHTTP
import TrawlURL

extension Coordinator {
    /// Gives a host rules of its own, from now on, also for requests that wait. What is in flight goes on.
    ///
    /// They are kept until the coordinator ends, or nil takes them back.
    ///
    /// - Parameter url: Of anything there: scheme, host and port count. With ``HostPoliteness/Key/address`` its host
    ///   has to be an address.
    /// - Throws: ``FetchError/Code/invalidURL``, ``FetchError/Code/unsupportedURL``, or ``FetchError/Code/badRequest``
    ///   for rules that make no sense.
    public func setHostRules(_ rules: HostRules?, of url: String) throws(FetchError) {
        if let problem = rules?.problem { throw FetchError(.badRequest, problem) }
        let origin = try Self.origin(of: url)
        if politenessKey == .address, HostAddresses.literal(origin.host) == nil {
            throw FetchError(.badRequest, "by address, rules of a host's own are for an address and not a name")
        }
        post(.setHostRules(origin, rules))
    }

    /// Takes a host back that was given up (``HostPoliteness/Circuit/retiresAfter``), as if nothing had been known of
    /// it.
    ///
    /// - Parameter url: Of anything there.
    /// - Throws: ``FetchError/Code/invalidURL``, ``FetchError/Code/unsupportedURL``.
    public func restoreHost(of url: String) throws(FetchError) {
        post(.restoreHost(try Self.origin(of: url)))
    }

    private static func origin(of url: String) throws(FetchError) -> Origin {
        do throws(URLFailure) {
            return try URLParser().parse(url).origin
        } catch {
            throw FetchError(error)
        }
    }
}

extension RequestOptions {
    /// The same without the credentials and cookies that the request was given, as far as a redirect leaves them
    /// behind (ASI-RED-07).
    ///
    /// - Parameter leavesOrigin: Whether this redirect leads to another origin, or one before it has.
    func withoutSecrets(leavesOrigin: Bool) -> RequestOptions {
        var options = self
        if leavesOrigin { options.authentication.credential = nil }
        if leavesOrigin || !cookies.repeatsManual { options.cookies.manual = [] }
        return options
    }
}

import TrawlHTTP

extension RequestOptions.Redirects.Mode {
    /// The same, as redirects are followed by.
    var packageMode: RedirectMode {
        switch self {
        case .manual: .manual
        case .standard: .standard
        case .classic: .classic
        case .preserve: .preserve
        }
    }
}

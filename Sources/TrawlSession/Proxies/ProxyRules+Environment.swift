extension ProxyRules {
    /// A variable that cannot be understood.
    package struct EnvironmentFault: Error, Sendable, Hashable {
        /// Its name.
        package let variable: String
        /// What is wrong with its value.
        package let fault: ProxyFault
    }

    /// What the environment says.
    ///
    /// `http_proxy`; `https_proxy` or `HTTPS_PROXY`; `all_proxy` or `ALL_PROXY` for both; `no_proxy` or `NO_PROXY`;
    /// `auto_proxy` names a script for what no other variable names a proxy for. The lower case wins. `HTTP_PROXY` is
    /// never read: a web server puts the field `Proxy` of any request there for its CGI programs (CVE-2016-5385 and its
    /// like), and curl does not read it either. An empty variable is none.
    ///
    /// - Parameter variable: The value of an environment variable, or nil.
    package init(environment variable: (String) -> String?) throws(EnvironmentFault) {
        func first(_ names: String...) -> (name: String, value: String)? {
            for name in names { if let value = variable(name), !value.isEmpty { return (name, value) } }
            return nil
        }
        func proxy(_ found: (name: String, value: String)?) throws(EnvironmentFault) -> Proxy? {
            guard let found else { return nil }
            do throws(ProxyFault) {
                return try Proxy(found.value)
            } catch {
                throw EnvironmentFault(variable: found.name, fault: error)
            }
        }
        let all = first("all_proxy", "ALL_PROXY")
        http = try proxy(first("http_proxy") ?? all)
        https = try proxy(first("https_proxy", "HTTPS_PROXY") ?? all)
        bypass = BypassList(first("no_proxy", "NO_PROXY")?.value ?? "")
        script = first("auto_proxy")?.value
    }
}

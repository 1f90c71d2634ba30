import ArgumentParser
import Glibc
import Trawl
import TrawlHTTP
import TrawlPlatform

/// What all subcommands of `auth` know.
struct AuthVaultArguments: ParsableArguments {
    @OptionGroup var vault: VaultArguments

    /// The path of the vault.
    func path() throws(CommandError) -> String {
        if let file = vault.file { return file }
        let variable = { (name: String) in getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 } }
        if let directory = variable("XDG_CONFIG_HOME") { return directory + "/trawl/vault" }
        guard let home = variable("HOME") else {
            throw CommandError("--vault is missing, and there is no home directory")
        }
        return home + "/.config/trawl/vault"
    }

    /// The vault, opened.
    func open(isNew: Bool = false) throws(CommandError) -> SealedFileVault {
        let path = try path()
        if isNew, vault.file == nil {
            do throws(SystemError) {
                try LocalPath.makeDirectories(LocalPath.parent(path))
            } catch {
                throw CommandError(file: path, error.errno, status: ExitStatus.cannotCreate)
            }
        }
        return try vault.sealed(path, isNew: isNew)
    }

    /// Does something with the vault.
    func command<Value>(
        _ body: (SealedFileVault) throws(SealedFileVault.Fault) -> Value
    ) throws(CommandError) -> Value {
        let vault = try open()
        do throws(SealedFileVault.Fault) {
            return try body(vault)
        } catch {
            throw error.command(try path())
        }
    }

    /// What the credentials of a URL's server, or of a proxy, are kept under.
    static func item(_ url: String, realm: String?, isProxy: Bool) throws(CommandError) -> VaultItem {
        if isProxy { return try proxy(url, realm: realm) }
        let origin = try WebURL.target(url).origin
        return VaultItem(scheme: origin.scheme, host: origin.host, port: Int(origin.port), realm: realm)
    }

    private static func proxy(_ url: String, realm: String?) throws(CommandError) -> VaultItem {
        let proxy: Trawl.Proxy
        do throws(FetchError) {
            proxy = try Trawl.Proxy(url)
        } catch {
            throw CommandError("--for-proxy: \(error.detail)")
        }
        guard proxy.kind == .http || proxy.kind == .https else {
            throw CommandError("--for-proxy: a SOCKS proxy asks nobody")
        }
        return VaultItem(
            scheme: proxy.kind.rawValue, host: proxy.host, port: Int(proxy.port), realm: realm, isProxy: true)
    }
}

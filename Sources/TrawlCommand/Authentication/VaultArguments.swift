import ArgumentParser
import Glibc
import Trawl
import TrawlHTTP

/// The sealed file in which credentials are kept for good, and who is asked for what opens it.
struct VaultArguments: ParsableArguments {
    @Option(
        name: .customLong("vault"), parsing: .unconditional,
        help: ArgumentHelp(
            "Use the credentials in this sealed file, which 'trawl auth set' fills.", valueName: "file"),
        completion: .file())
    var file: String?

    @Option(
        name: .customLong("vault-passphrase-file"), parsing: .unconditional,
        help: ArgumentHelp(
            "Its passphrase is the first line of this file; without it the passphrase is asked for.", valueName: "file"),
        completion: .file())
    var passphraseFile: String?

    @Option(
        name: .customLong("use-askpass"), parsing: .unconditional,
        help: ArgumentHelp(
            "Ask by this program in place of the terminal, for servers too; it gets the question as its argument.",
            valueName: "command"))
    var askProgram: String?

    func validate() throws {
        if let askProgram, askProgram.allSatisfy({ $0 == " " }) {
            throw ValidationError("--use-askpass: there is no command")
        }
    }

    /// Who is asked for what must not be seen.
    var asker: SecretAsker {
        askProgram.map { .program($0.split(separator: " ").map(String.init)) } ?? .terminal
    }

    /// The sealed file, opened.
    ///
    /// - Parameter isNew: Whether it may be made, and its passphrase is asked for twice then.
    func sealed(_ path: String, isNew: Bool = false) throws(CommandError) -> SealedFileVault {
        let exists = access(path, F_OK) == 0
        guard exists || isNew else {
            throw CommandError(
                file: path, ENOENT, status: ExitStatus.configuration, curlStatus: ExitStatus.Curl.readError)
        }
        let passphrase = try passphrase(isNew: !exists)
        do throws(SealedFileVault.Fault) {
            return try SealedFileVault(path: path, passphrase: passphrase)
        } catch {
            if case .system(let number) = error, [EACCES, EPERM].contains(number) {
                throw CommandError(
                    file: path, number, status: ExitStatus.noPermission, curlStatus: ExitStatus.Curl.readError)
            }
            throw error.command(path)
        }
    }

    private func passphrase(isNew: Bool) throws(CommandError) -> String {
        if let passphraseFile {
            let bytes = try StandardStreams.readAll(passphraseFile, limit: 64 << 10)
            let line = bytes.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
            guard !line.isEmpty else { throw CommandError("\(passphraseFile.terminalSafe): the first line is empty") }
            return String(decoding: line, as: UTF8.self)
        }
        guard let passphrase = asker.read("Passphrase of the vault: "), !passphrase.isEmpty else {
            throw CommandError("no passphrase is given, and \(asker.name)")
        }
        if isNew, asker.read("Passphrase of the vault, once more: ") != passphrase {
            throw CommandError("the passphrases differ")
        }
        return passphrase
    }
}

extension SealedFileVault.Fault {
    /// As the command tells it. Of one URL the status is that of a netrc file, since curl's own 77 and 78 mean something
    /// else.
    func command(_ path: String) -> CommandError {
        let curlStatus = ExitStatus.Curl.readError
        return switch self {
        case .wrongPassphrase:
            CommandError(
                "\(path.terminalSafe): another passphrase, or a damaged file", status: ExitStatus.noPermission,
                curlStatus: curlStatus)
        case .notAVault:
            CommandError(
                "\(path.terminalSafe): not a vault of this version", status: ExitStatus.configuration,
                curlStatus: curlStatus)
        case .system(let number):
            CommandError(file: path, number, status: ExitStatus.cannotCreate, curlStatus: curlStatus)
        case .noCryptography: CommandError("libcrypto cannot be loaded", status: ExitStatus.engineDown)
        }
    }
}

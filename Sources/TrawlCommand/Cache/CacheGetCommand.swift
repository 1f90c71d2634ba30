import ArgumentParser
import Glibc
import Trawl
import TrawlCache
import TrawlHTTP
import TrawlPlatform
import TrawlStore

/// `trawl cache get URL`
struct CacheGetCommand: CacheSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Write the stored body of a URL, however old it is.",
        discussion: """
            The newest response stored under the URL; with -H the one that a request with these fields selects. Its \
            content codings are undone.
            """)

    @Argument(help: ArgumentHelp("The URL.", valueName: "url"))
    var url: String

    @Option(
        name: [.customShort("H", allowingJoined: true), .customLong("header")], parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "A field line of the request whose response is wanted, where several are stored. Repeatable.",
            valueName: "name:value"))
    var headers: [FieldArgument] = []

    @Option(
        name: [.customShort("o", allowingJoined: true), .customLong("output")], parsing: .unconditional,
        help: ArgumentHelp("Write to this file; '-' is standard output.", valueName: "file"), completion: .file())
    var file: String?

    @Flag(name: [.customShort("i"), .customLong("include")], help: "Write the response's head before the body.")
    var include = false

    @Flag(name: .customLong("raw"), help: "Leave content codings on, and write parts of a body too.")
    var raw = false

    @OptionGroup var storage: CacheStoreArguments

    func validate() throws {
        try FieldArgument.check(headers, "-H")
        if file == "" { throw ValidationError("-o wants a file name") }
    }

    func execute(on store: CacheAtHand) throws(CommandError) -> Int32 {
        guard let responses = store.responses, let item = try item(in: responses, store.directory) else {
            throw CommandError("\(FailureText.url(url)): nothing is stored", status: ExitStatus.someFailed)
        }
        let body = item.response.facts.body
        if !body.isComplete, !raw {
            let total = body.total.map { " of \($0)" } ?? ""
            throw CommandError(
                "\(FailureText.url(url)): only \(body.length) bytes\(total) are stored; --raw writes them",
                status: ExitStatus.someFailed)
        }
        let writer = try self.writer()
        do throws(StoredBytes.Failure) {
            try write(item, to: writer, at: store.now)
        } catch {
            writer.abandon()
            return try settle(error, item, responses, writer)
        }
        return ExitStatus.success
    }

    // MARK: Finding it

    private func item(in responses: ResponseStore, _ directory: String) throws(CommandError) -> StoredItem? {
        var fields: FieldLines?
        if !headers.isEmpty {
            var request = Request("")
            try FieldArgument.apply(headers, to: &request) { path throws(CommandError) in
                try StandardStreams.readAll(path, limit: 1 << 20)
            }
            if let refused = request.fields.refused { throw CommandError("-H: the field line \(refused) is none") }
            fields = request.fields.lines
        }
        var variants = 0
        for key in try StoredURL.keys(of: url) {
            let found: (item: StoredItem?, variants: Int)
            do throws(BodyLoss) {
                found = try responses.item(under: key, selectedBy: fields)
            } catch {
                switch error {
                case .gone: continue
                case .damaged: throw damaged
                case .unreadable(let error): throw CommandError(error, in: directory)
                }
            }
            if let item = found.item { return item }
            variants += found.variants
        }
        if variants > 0, fields != nil {
            throw CommandError(
                "\(FailureText.url(url)): \(variants) stored, and none for a request with these fields",
                status: ExitStatus.someFailed)
        }
        return nil
    }

    // MARK: Writing it

    private func writer() throws(CommandError) -> BodyWriter {
        guard let file, !LocalPath.isStandardOutput(file) else { return .standardOutput() }
        do throws(SystemError) {
            return try BodyWriter.file(LocalPath.absolute(file), replaces: true)
        } catch {
            throw CommandError(file: file, error.errno, status: ExitStatus.cannotCreate)
        }
    }

    private func write(
        _ item: StoredItem, to writer: BodyWriter, at now: WallTime
    ) throws(StoredBytes.Failure) {
        let allowsBinary = !writer.isTerminal || file != nil
        var isFirst = true
        do throws(SystemError) {
            if include { try writeHead(item, to: writer, at: now) }
        } catch {
            throw .output(error)
        }
        try StoredBytes().deliver(item, decodes: !raw, into: writer.file) { (bytes) throws(SystemError) in
            // As `get`: a zero byte in the first piece.
            if isFirst, !allowsBinary, bytes.prefix(2000).contains(0) {
                throw SystemError(errno: Self.isBinary, call: "write")
            }
            isFirst = false
            try writer.write(bytes)
        }
        do throws(SystemError) { try writer.finish() } catch { throw .output(error) }
    }

    private func writeHead(_ item: StoredItem, to writer: BodyWriter, at now: WallTime) throws(SystemError) {
        let facts = item.response.facts
        let reuse = Reuse(form: .whole, age: max(0, facts.age(at: now) / 1000), source: .cache)
        let head = Response.ResponseHead(item.response.head(as: reuse))
        let bytes = writer.isTerminal ? Array(HeadText.lines(head, prefix: "").utf8) : HeadText.bytes(head)
        try bytes.span.withUnsafeBytes { (bytes) throws(SystemError) in try writer.write(bytes) }
    }

    private var damaged: CommandError {
        CommandError(
            "\(FailureText.url(url)): the stored body was damaged, and is removed", status: ExitStatus.dataError)
    }

    /// Stands for a refusal of ours among the errors of writing.
    private static let isBinary: Int32 = -1

    private func settle(
        _ failure: StoredBytes.Failure, _ item: StoredItem, _ responses: ResponseStore, _ writer: BodyWriter
    ) throws(CommandError) -> Int32 {
        switch failure {
        case .damaged:
            if case .blob(let reader)? = item.body { responses.cache.reportDamage(of: reader, item.use) }
            throw damaged
        case .coding(let reason):
            throw CommandError(
                "\(FailureText.url(url)): \(reason.terminalSafe); --raw writes it as it is",
                status: ExitStatus.dataError)
        case .output(let error) where error.errno == Self.isBinary:
            throw CommandError(
                "binary bytes would go to the terminal; use '-o -' for that, or '-o FILE'",
                status: ExitStatus.outputError)
        case .output(let error):
            // Whoever read has seen enough.
            if error.errno == EPIPE, writer.isStandardOutput { return ExitStatus.success }
            throw CommandError(
                "\(writer.name): \(SystemError.reason(error.errno))", status: ExitStatus.outputError)
        }
    }
}

/// Why the command cannot go on: a line for standard error and an exit status.
struct CommandError: Error, Equatable {
    let message: String
    let status: Int32

    init(_ message: String, status: Int32 = ExitStatus.usage) {
        self.message = message
        self.status = status
    }
}

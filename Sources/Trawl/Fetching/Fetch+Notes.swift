/// What a program keeps with a fetch for its own use. It stays in this process: nothing of it is sent or stored.
extension Fetch {
    /// A text, for logs.
    ///
    /// - Source: `NSURLSessionTask.taskDescription`.
    public var label: String? {
        get { control.notes.label }
        set { control.note { $0.label = newValue } }
    }

    /// A number; 0 before one is set.
    ///
    /// - Source: ASIHTTPRequest's `tag` (ASI-RUN-04).
    public var tag: Int {
        get { control.notes.tag }
        set { control.note { $0.tag = newValue } }
    }

    /// Anything else, by name. Of two changes at once one may be lost: it is set as a whole.
    ///
    /// - Source: ASIHTTPRequest's `userInfo` (ASI-RUN-04).
    public var userInfo: [String: any Sendable] {
        get { control.notes.userInfo }
        set { control.note { $0.userInfo = newValue } }
    }
}

extension Coordinator {
    /// Goes on with a download where it stopped. When it is another one by now it begins anew.
    ///
    /// Resume data that does not go with what is there fails the fetch with ``FetchError/Code/resumeData``.
    ///
    /// - Parameters:
    ///   - data: Of ``FetchError/resumeData`` or ``Fetch/pause()``.
    ///   - request: The request as it was made at first, when it had more than a URL. Its URL is that of the data, with
    ///     the user and password of the one given when scheme, host and port of both are the same.
    ///   - options: How the body becomes a file. What has come is kept again, should it fail again.
    ///   - decisions: Who decides for this fetch, in place of ``Configuration/decisions``.
    public func start(
        resuming data: ResumeData, as request: Request? = nil,
        options: Destination.FileOptions = Destination.FileOptions(), decisions: (any FetchDecisions)? = nil
    ) -> Fetch {
        var request = request ?? Request(data.url)
        request.url = FetchPlanner.url(of: data, for: request)
        var options = options
        options.keepsPart = true
        options.resumeData = data
        return start(request, into: .file(data.destination, options: options), decisions: decisions)
    }
}

extension Fetch {
    /// Ends a download so that it can be gone on with: cancels it, and gives what is needed for that. A queue cancels
    /// all others for that, unless ``FetchQueue/Settings/cancelsOthersOnFailure`` is false; ``suspend()`` cancels none.
    ///
    /// - Returns: nil when it cannot be gone on with: it has ended well, its options do not say that what has come is
    ///   kept (``Destination/FileOptions/keepsPart``), or the server does not support it.
    public func pause() async -> ResumeData? {
        cancel()
        do throws(FetchError) {
            _ = try await response
            return nil
        } catch {
            return error.resumeData
        }
    }
}

/// The end of a session whose coordinator goes on.
extension Coordinator {
    /// Forgets what this coordinator holds for its session:
    ///
    /// - credentials of servers and proxies, those that worked and those that were put in ``credentials``;
    /// - cookies that its fetches took or that were put into a jar by hand, in all jars, however long they would last;
    /// - responses that are stored for the session, in all caches it has used.
    ///
    /// What begins after this has returned has none of it, whatever worker it runs in; of cookies and responses that
    /// holds for all programs on the store. A fetch that is under way keeps what it has and may add to it later: who
    /// does not want that cancels it before. What was there before the session, what is stored permanently and what is
    /// in the vault stays.
    ///
    /// - Throws: ``FetchError/Code/storeUnusable`` when cookies or responses could not be removed. All else is
    ///   forgotten then. ``FetchError/Code/cancelled`` when the calling task is: all is forgotten, but the end of that
    ///   is not waited for.
    /// - Source: ASIHTTPRequest's `clearSession` (ASI-AUTH-20), which also forgets the credentials of proxies.
    public func clearSession() async throws(FetchError) {
        await credentials.removeAll()
        await programCache?.cache.removeEntries(kept: .session)
        var problem: FetchError?
        do throws(FetchError) {
            try await cookieSettings.removeAcceptedInSession()
        } catch {
            problem = error
        }
        try await shelf.clearSession()
        if let problem { throw problem }
    }
}

import CTrawlCurl

/// Bodies that libcurl has kept while a transfer was paused.
///
/// Over HTTP/2 a paused stream is read on with the others of its connection, as far as the server has room for it: 32
/// MiB. With the end of the pause libcurl 7.88 gives the server all of that room again, whatever of it was delivered,
/// and a stream of which it would have to keep more than 64 MiB fails. So with the end of a pause all that it has kept
/// is taken, and the next pause ends when there was room for all of that.
extension Transfer {
    /// How many of those bytes are delivered at a time, as libcurl does it.
    private static let longestPiece = 16 << 10

    /// Bytes of a body from libcurl.
    ///
    /// - Returns: As `accept`.
    func received(_ piece: UnsafeRawBufferPointer) -> Int {
        if kept.isEmpty {
            let count = accept(piece)
            guard takesOver, count == Int(CURL_WRITEFUNC_PAUSE) else { return count }
            isPaused = false
        } else if !takesOver {
            isPaused = true
            return Int(CURL_WRITEFUNC_PAUSE)
        }
        kept.append(piece)
        return piece.count
    }

    /// Has libcurl go on. It calls back with what it has kept, from inside.
    func endPause() -> CURLcode {
        isPaused = false
        takesOver = connection?.isHTTP2 == true
        defer { takesOver = false }
        return curl_easy_pause(easy.raw, CURLPAUSE_CONT)
    }

    /// Takes of what was kept as much as there is room for.
    ///
    /// - Returns: False when the transfer is over; `failure` or `endsEarly` says why.
    func takeKept() -> Bool {
        guard !kept.isEmpty else { return true }
        // Whether libcurl waits is another matter.
        let wasPaused = isPaused
        defer { isPaused = wasPaused }
        let bytes = kept
        var taken = 0
        while taken < bytes.count {
            let length = min(bytes.count - taken, Self.longestPiece)
            let count = bytes.withUnsafeBytes { accept(UnsafeRawBufferPointer(rebasing: $0[taken..<taken + length])) }
            if count == Int(CURL_WRITEFUNC_PAUSE) { break }
            guard count == length else {
                kept.removeAll()
                return false
            }
            taken += length
        }
        kept.removeFirst(taken)
        return true
    }
}

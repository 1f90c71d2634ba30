import CTrawlCurl
import Glibc
import TrawlProtocol

/// Bodies into pipes and terminals: written as they take it, while all other transfers go on.
extension Transfer {
    /// Writes what there is room for; the rest waits in `pending`, and the loop for room.
    ///
    /// - Returns: False when the transfer is over; `failure` says why.
    func pace(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard !awaitsRoom else {
            pending.append(bytes)
            return true
        }
        guard let taken = writePaced(bytes) else { return false }
        if taken < bytes.count { pending.append(UnsafeRawBufferPointer(rebasing: bytes[taken...])) }
        return true
    }

    /// Writes on what waits.
    ///
    /// - Returns: False when the transfer is over; `failure` says why.
    func paceOn() -> Bool {
        awaitsRoom = false
        let bytes = pending
        guard let taken = bytes.withUnsafeBytes({ writePaced($0) }) else { return false }
        pending.removeFirst(taken)
        return true
    }

    /// Writes what there is room for, and has the loop wait for more room for the rest.
    ///
    /// - Returns: How many bytes were written; nil when the transfer is over.
    private func writePaced(_ bytes: UnsafeRawBufferPointer) -> Int? {
        do throws(HopFailure) {
            let (taken, isOpen) = try store.writePaced(bytes)
            if taken < bytes.count || !isOpen {
                awaitsRoom = true
                loop.someAwaitRoom = true
            }
            return taken
        } catch {
            failure = error
            return nil
        }
    }

    /// Opens a pipe for a body without bytes, so that its reader sees the end of it.
    ///
    /// - Returns: False when the transfer is over; `failure` says why.
    func paceEmpty() -> Bool {
        guard store.isPaced, store.length == 0, lease.options.contains(.createsEmptyFile) else { return true }
        return pace(UnsafeRawBufferPointer(start: nil, count: 0))
    }
}

extension TransferLoop {
    /// How often a pipe without a reader is looked at; nothing tells when one comes.
    private static let readerInterval: Int32 = 20

    /// As `wait`, while transfers wait for pipes or terminals to take more; those go on that can.
    func waitWithPaced(_ control: curl_waitfd, milliseconds: Int32) -> (code: CURLMcode, control: curl_waitfd) {
        var watched = [control]
        var waiting: [Transfer] = []
        var readerless: [Transfer] = []
        // What is congested goes on by `relieve`.
        if !output.isCongested {
            for transfer in activeTransfers where transfer.awaitsRoom && !transfer.isSuspended {
                if let number = transfer.store.pacedNumber {
                    watched.append(curl_waitfd(fd: number, events: Int16(CURL_WAIT_POLLOUT), revents: 0))
                    waiting.append(transfer)
                } else {
                    readerless.append(transfer)
                }
            }
            someAwaitRoom = !waiting.isEmpty || !readerless.isEmpty
        }
        let limit = readerless.isEmpty ? milliseconds : min(milliseconds, Self.readerInterval)
        let code = curl_multi_poll(multi, &watched, UInt32(watched.count), limit, nil)
        clock.advance()
        if code == CURLM_OK {
            for (transfer, watch) in zip(waiting, watched.dropFirst()) where watch.revents != 0 { transfer.pump() }
        }
        for transfer in readerless { transfer.pump() }
        return (code, watched[0])
    }
}

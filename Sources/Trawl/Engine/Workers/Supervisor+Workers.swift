import Glibc
import TrawlHTTP
import TrawlPlatform
import TrawlProtocol
import TrawlSupervision
import TrawlWorker

/// Starting, greeting, watching and losing workers.
extension Supervisor {
    /// Puts a new worker into a slot.
    mutating func start(_ slot: Int) {
        switch pool.slots[slot].backoffElapsed(at: now) {
        case .start: break
        case .wait(let delay):
            pool.restart(slot, at: now.advanced(by: delay))
            return
        case .none: return
        }
        do throws(SystemError) {
            let pair = try ControlSocket.pair()
            // All that can fail comes before the worker, or ends with it.
            let socket = try pair.here.duplicated(atLeast: 3)
            let engine: WorkerLink.Engine
            if let executable {
                engine = .process(
                    try WorkerProcess.spawn(
                        executable: executable.startPath, arguments: executable.arguments,
                        environment: executable.environment, control: pair.there, segment: segment.descriptor))
            } else {
                engine = .thread(try Self.startThread(pair.there, segment.descriptor))
            }
            switch pool.slots[slot].started(at: now) {
            case .run(let generation):
                let link = WorkerLink(
                    slot: slot, generation: generation, engine: engine, socket: socket)
                pool.links[slot] = link
                segment.worker(slot).reset(generation: UInt64(generation))
                if listen(to: link) { greet(link) } else { end(link, for: .shortage) }
            case .kill:
                if case .process(let process) = engine { _ = try? process.signal(SIGKILL) }
            }
        } catch {
            pool.noteFailedStart(error.call, error.errno)
            let jitter = Double.random(in: 0...1, using: &random)
            act(on: pool.slots[slot].startFailed(errno: error.errno, at: now, jitter: jitter), slot: slot)
        }
    }

    /// Starts a worker of this process, which owns what a process would have inherited.
    private static func startThread(
        _ control: borrowing Descriptor, _ segment: borrowing Descriptor
    ) throws(SystemError) -> NamedThread {
        let control = try control.duplicated(atLeast: 3)
        let segment = try segment.duplicated(atLeast: 3)
        let (controlNumber, segmentNumber) = (control.rawValue, segment.rawValue)
        let thread = try NamedThread.start(name: "trawl-worker") {
            _ = Worker.run(control: controlNumber, segment: segmentNumber, isOwnProcess: false)
        }
        _ = control.release()
        _ = segment.release()
        return thread
    }

    /// Waits for what a new worker says, and for its end.
    ///
    /// - Returns: False when the system has no room for that. Its end is found by ``tick(onTime:)`` then.
    private func listen(to link: WorkerLink) -> Bool {
        do throws(SystemError) {
            try poller.add(link.rawSocket, token: Token.socket(link.slot), interest: .read)
            if case .process(let process) = link.engine {
                try poller.add(process.exitDescriptor, token: Token.exit(link.slot), interest: .read)
            }
            return true
        } catch {
            return false
        }
    }

    private mutating func greet(_ link: WorkerLink) {
        let roots = outputRoots.map { root in
            WorkerRoot(path: root.path, device: root.identity.device, inode: root.identity.inode)
        }
        let hello = Hello(
            build: BuildIdentity.text, segmentLayout: SharedSegment.layoutVersion, slot: UInt32(link.slot),
            generation: link.generation, leases: UInt32(configuration.transfersPerWorker),
            roots: roots, followsConnections: toldSteps.contains(.connections),
            countsConnections: leases.workers > 1)
        _ = link.send(.hello(hello))
        pool.markDirty(link.slot)
    }

    /// Takes what a worker sent.
    mutating func read(_ link: WorkerLink) {
        switch receive(from: link) {
        case .drained: break
        case .endOfStream:
            link.closeStream(poller)
            lostContact(link)
            // A thread's end is its stream's end; a process's exit comes through its pidfd.
            if case .thread = link.engine { workerExited(link) }
        case .garbage(let error): refuse(link, "\(error)")
        case .shortage:
            link.isUnheard = true
            end(link, for: .shortage)
        }
    }

    /// The worker cannot be talked to any more: it gets nothing new, and has the grace to exit by itself.
    mutating func lostContact(_ link: WorkerLink) {
        guard link.lostAt == nil else { return }
        link.lostAt = now
        leases.workerDraining(link.slot)
    }

    /// The worker broke the protocol: it is ended, and its hops are suspects.
    mutating func refuse(_ link: WorkerLink, _ reason: String) {
        markRefused(link, reason)
        end(link, for: .garbage)
    }

    /// Ends a worker whose stream is of no more use.
    private mutating func end(_ link: WorkerLink, for reason: KillReason) {
        link.closeStream(poller)
        leases.workerDraining(link.slot)
        perform(pool.slots[link.slot].kill(reason), on: link.slot)
        if case .thread = link.engine { workerExited(link) }
    }

    private mutating func markRefused(_ link: WorkerLink, _ reason: String) {
        link.isRefused = true
        pool.noteRefusal(link.slot, "it sent what is not a frame of this protocol (\(reason))")
    }

    private mutating func receive(from link: WorkerLink, exhaustively: Bool = false) -> WorkerLink.ReadEnd {
        link.read(exhaustively: exhaustively) { end, descriptors in
            take(end, descriptors, from: link)
        } said: { message, descriptors in
            take(message, descriptors, from: link)
        }
    }

    private mutating func take(_ end: LeaseEnd, _ descriptors: [Int32], from link: WorkerLink) -> Bool {
        // Instead of a greeting it is a message like any other.
        guard link.isGreeted else { return take(.ended(end), descriptors, from: link) }
        return ended(end, descriptors, from: link)
    }

    private mutating func take(_ message: WorkerMessage, _ descriptors: [Int32], from link: WorkerLink) -> Bool {
        guard link.isGreeted else {
            for descriptor in descriptors { close(descriptor) }
            guard case .ready(let ready) = message else {
                refuse(link, "no greeting")
                return false
            }
            return greeted(ready, by: link)
        }
        return handle(message, descriptors, from: link)
    }

    private mutating func greeted(_ ready: Ready, by link: WorkerLink) -> Bool {
        let slot = link.slot
        let expected = (WireProtocol.version, BuildIdentity.text, SharedSegment.layoutVersion)
        guard (ready.version, ready.build, ready.segmentLayout) == expected else {
            // The rest of another version's greeting is not known here.
            let refusal =
                ready.version == expected.0
                ? "it is of build \(ready.build.terminalSafe) with segment layout \(ready.segmentLayout), this program of "
                    + "build \(expected.1) with layout \(expected.2)"
                : "it speaks protocol \(ready.version), this program protocol \(expected.0)"
            pool.noteRefusal(slot, refusal)
            link.closeStream(poller)
            switch pool.slots[slot].retire(.incompatible) {
            case .kill: signal(slot, SIGKILL)
            case .retire, .none: break
            }
            poolMayBeDown()
            return false
        }
        link.isGreeted = true
        validationGrace.workerReady(configuration.validationGrace, at: now)
        switch pool.slots[slot].becameReady(at: now) {
        case .lease: leases.workerReady(slot)
        case .none: break
        }
        return true
    }

    /// The worker's process or thread has ended.
    mutating func workerExited(_ link: WorkerLink) {
        let slot = link.slot
        let exit: WorkerExit
        switch link.engine {
        case .thread(let thread):
            link.closeStream(poller)
            thread.join()
            exit = .exited(status: WorkerExitStatus.finished)
        case .process(let process):
            guard let status = try? process.reap() else { return }
            exit = workerExit(status, link)
            try? poller.remove(process.exitDescriptor)
        }
        // What it said before its end counts.
        if link.isOpen {
            switch receive(from: link, exhaustively: true) {
            case .drained, .endOfStream, .shortage: break
            case .garbage(let error): markRefused(link, "\(error)")
            }
            link.closeStream(poller)
        }
        pool.links[slot] = nil
        tell(.connections, "worker \(slot) ended, and its connections with it")
        // The counters of its line are about to begin anew.
        meterBandwidth()
        // To send garbage, or to leave with work in hand and without being told to go, is a crash whatever the status.
        var suspicion = pool.slots[slot].attributed(exit)
        if case .no = closing, exit == .exited(status: WorkerExitStatus.finished), leases.heldCount(of: slot) > 0,
            !link.isUnheard
        {
            suspicion = .killedByUs(.garbage)
        }
        if link.isRefused { suspicion = .killedByUs(.garbage) }
        let lost = leases.workerLost(
            slot, exit: suspicion,
            wasSent: { lease in
                // The words of a lease that never began still tell of an earlier one.
                guard lease.index < segment.transfersPerWorker,
                    let words = segment.progress(worker: slot, transfer: lease.index).snapshot(),
                    words.lease == lease.rawValue
                else { return false }
                return words.requestMayHaveBeenSent
            },
            isIdempotent: { fetches[FetchKey(rawValue: $0)]?.engine.method.isIdempotent ?? true })
        for hop in lost {
            noteDelivery(hop, by: slot)
            self.lost(hop, exit: exit)
        }
        act(on: pool.slots[slot].exited(exit, at: now, jitter: .random(in: 0...1, using: &random)), slot: slot)
    }

    /// Of a body that goes into a pipe or terminal, part may be there already, and cannot be taken back.
    private mutating func noteDelivery(_ hop: LostHop, by slot: Int) {
        guard let fetch = fetches[FetchKey(rawValue: hop.hop)], case .opened(let destination) = fetch.plan.sink,
            destination.isPaced, hop.lease.index < segment.transfersPerWorker,
            let words = segment.progress(worker: slot, transfer: hop.lease.index).snapshot(),
            words.lease == hop.lease.rawValue, words.received > 0
        else { return }
        fetch.engine.delivered = max(1, fetch.engine.delivered)
    }

    private mutating func workerExit(_ exit: ProcessExit, _ link: WorkerLink) -> WorkerExit {
        switch exit {
        case .exited(let status): return .exited(status: status)
        case .signalled(SIGKILL):
            // The kernel's out-of-memory killer uses SIGKILL too; its counter tells the two apart.
            if let before = link.memoryKillsAtStart, let after = OutOfMemoryKills.count(), after > before {
                return .outOfMemory
            }
            return .signalled(signal: SIGKILL)
        case .signalled(let signal): return .signalled(signal: signal)
        case .unknown: return .unknown
        }
    }

    private mutating func act(on action: WorkerSlot.ExitAction, slot: Int) {
        switch action {
        case .restart(let delay):
            if case .no = closing { pool.restart(slot, at: now.advanced(by: delay)) }
        case .retire: poolMayBeDown()
        case .none: break
        }
    }

    /// Carries a kill out.
    mutating func perform(_ action: WorkerSlot.KillAction, on slot: Int) {
        switch action {
        case .terminate: signal(slot, SIGTERM)
        case .kill: signal(slot, SIGKILL)
        case .none: break
        }
    }

    private mutating func signal(_ slot: Int, _ number: Int32) {
        if case .process(let process)? = pool.links[slot]?.engine { _ = try? process.signal(number) }
    }

    /// The regular look at all workers and observed fetches.
    mutating func tick(onTime: Bool) {
        for slot in pool.slots.indices {
            guard let link = pool.links[slot] else { continue }
            if link.memoryKillsAtStart == nil { link.memoryKillsAtStart = OutOfMemoryKills.count() ?? 0 }
            let line = segment.worker(slot)
            link.look(fileBeats: line.fileBeats, at: now)
            // A thread cannot be ended: one that is silent for a while goes on with what it has.
            if case .process = link.engine {
                switch pool.slots[slot].tick(beat: line.heartbeat &+ line.fileBeats, onTime: onTime, at: now) {
                case .kill:
                    leases.workerDraining(slot)
                    signal(slot, SIGKILL)
                case .none: break
                }
            }
            if let lostAt = link.lostAt, lostAt.duration(to: now) >= Self.exitGrace {
                perform(pool.slots[slot].kill(.garbage), on: slot)
            }
            // Where the system had no room for it, nothing else tells of its end.
            if case .process = link.engine, pool.slots[slot].phase == .ending { workerExited(link) }
        }
        for (key, deadline) in cancelling where onTime && deadline <= now {
            cancelling[key] = nil
            guard let fetch = fetches[key], let link = pool.links[fetch.engine.worker], case .process = link.engine
            else { continue }
            // As long as it waits for a file it reads nothing: its time begins when it can.
            if let end = link.waitedForFileAt?.advanced(by: configuration.tolerance.cancelGrace), end > now {
                cancelling[key] = end
                continue
            }
            // Its place with its host and in the worker would be gone for ever.
            refuse(link, "it did not end a cancelled lease")
        }
        endHeadWaits()
        reportProgress()
        meterBandwidth()
        tellThrottle()
    }

    private mutating func poolMayBeDown() {
        guard case .down(let reason) = PoolState(of: pool.slots) else { return }
        goDown(engineDown(reason))
    }

    private mutating func engineDown(_ reason: RetireReason) -> FetchError {
        let program = "the worker executable \(executable?.path.terminalSafe ?? "")"
        let said = pool.refusal
        switch reason {
        case .shutdown:
            return .shutDown()
        case .cannotWork, .incompatible:
            return FetchError(.engineDown, "\(program) does not fit: \(said ?? "it said that it cannot work here")")
        case .cannotStart(let number), .neverReady(.spawn(let number)):
            let failed = pool.callThatFailed(with: number).map { "no worker can be started: \($0)" }
            let what = failed ?? "\(program) cannot be started"
            return FetchError(.engineDown, "\(what): \(SystemError.text(of: number))", cause: .system(number))
        case .neverReady(.exited(let exit)):
            return FetchError(.engineDown, "\(program) is not a worker: \(said ?? Self.text(of: exit))")
        }
    }

    private static func text(of exit: WorkerExit) -> String {
        switch exit {
        case .exited(let status): "it ended with status \(status)"
        case .signalled(let signal): "it was ended by signal \(signal)"
        case .outOfMemory: "the system had no memory for it"
        case .killedByUs(.startDeadline): "it did not say that it is ready"
        case .killedByUs: "it had to be ended"
        case .unknown: "it ended"
        }
    }
}

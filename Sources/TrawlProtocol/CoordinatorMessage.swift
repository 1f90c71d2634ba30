import TrawlHTTP

/// A frame from the coordinator to a worker.
package enum CoordinatorMessage: Sendable, Hashable {
    case hello(Hello)
    /// Defines or replaces the profile of that number.
    case profile(number: UInt32, TransferProfile)
    case lease(Lease)
    case answer(lease: UInt64, HeadDisposition)
    /// The hop is no longer wanted. The worker still ends it, with `cancelled` or with what had already happened.
    case cancel(lease: UInt64)
    /// There is room for so many more bytes of a streamed or a metered body.
    case credit(lease: UInt64, bytes: UInt32)
    /// No more leases come: finish those at hand, then exit.
    case drain
    /// Close so many idle connections to the origin of that number, as far as there are any, and say how many are open.
    case release(origin: UInt32, count: UInt16)
    /// A transfer rests, goes on, or gives its lease up.
    case order(lease: UInt64, TransferOrder)

    /// How many descriptors travel with the frame.
    package var descriptorCount: Int {
        switch self {
        case .lease(let lease): lease.descriptorCount
        case .answer(_, .redirectBody(.descriptor)): 1
        case .hello, .profile, .answer, .cancel, .credit, .drain, .release, .order: 0
        }
    }

    /// Appends the message as a frame.
    ///
    /// - Returns: False when it is longer than a frame may be; then nothing was written.
    package func write(to writer: inout WireWriter) -> Bool {
        switch self {
        case .hello(let hello):
            return writer.frame(.hello) { payload in
                payload.write(WireProtocol.magic)
                payload.write(hello.version)
                payload.write(hello.build)
                payload.write(hello.segmentLayout)
                payload.write(hello.slot)
                payload.write(hello.generation)
                payload.write(hello.leases)
                WorkerRoot.write(hello.roots, to: &payload)
                payload.write(hello.followsConnections)
                payload.write(hello.countsConnections)
            }
        case .profile(let number, let profile):
            return writer.frame(.profile) { payload in
                payload.write(number)
                profile.write(to: &payload)
            }
        case .lease(let lease):
            return Self.writeLease(lease, to: &writer)
        case .answer(let lease, let disposition):
            return writer.frame(.answer, descriptors: descriptorCount) { payload in
                payload.write(lease)
                disposition.write(to: &payload)
            }
        case .cancel(let lease):
            return writer.frame(.cancel) { $0.write(lease) }
        case .credit(let lease, let bytes):
            return writer.frame(.credit) { payload in
                payload.write(lease)
                payload.write(bytes)
            }
        case .drain:
            return writer.frame(.drain) { _ in }
        case .release(let origin, let count):
            return writer.frame(.release) { payload in
                payload.write(origin)
                payload.write(count)
            }
        case .order(let lease, let order):
            return writer.frame(.order) { payload in
                payload.write(lease)
                payload.write(order.rawValue)
            }
        }
    }

    /// Appends a `lease` frame without the message in between, which would copy the largest value there is.
    ///
    /// - Returns: False when it is longer than a frame may be; then nothing was written.
    package static func writeLease(_ lease: Lease, to writer: inout WireWriter) -> Bool {
        writer.frame(.lease, descriptors: lease.descriptorCount) { lease.write(to: &$0) }
    }

    /// The message of a frame. (No initializer: what one made that can fail half-way is copied.)
    ///
    /// A `hello` of another protocol version is given back with that version and otherwise empty, since its layout is
    /// not known here.
    package static func read(_ frame: FrameBuffer.Frame) throws(FrameError) -> CoordinatorMessage {
        var reader = WireReader(frame.payload)
        var descriptors = 0
        let message: CoordinatorMessage
        switch WireProtocol.Kind(rawValue: frame.kind) {
        case .hello:
            guard try reader.uint32() == WireProtocol.magic else { throw .invalid(.magic) }
            let version = try reader.uint16()
            guard version == WireProtocol.version else {
                return .hello(
                    Hello(
                        version: version, build: "", segmentLayout: 0, slot: 0, generation: 0, leases: 0, roots: []))
            }
            message = .hello(
                Hello(
                    version: version, build: try reader.text(), segmentLayout: try reader.uint32(),
                    slot: try reader.uint32(), generation: try reader.uint32(), leases: try reader.uint32(),
                    roots: try WorkerRoot.read(from: &reader), followsConnections: try reader.bool(),
                    countsConnections: try reader.bool()))
        case .profile: message = .profile(number: try reader.uint32(), try TransferProfile(from: &reader))
        case .lease: return .lease(try readLease(frame, knownFields: FieldLines()))
        case .answer:
            let lease = try reader.uint64()
            let disposition = try HeadDisposition(from: &reader)
            if case .redirectBody(.descriptor) = disposition { descriptors = 1 }
            message = .answer(lease: lease, disposition)
        case .cancel: message = .cancel(lease: try reader.uint64())
        case .credit: message = .credit(lease: try reader.uint64(), bytes: try reader.uint32())
        case .drain: message = .drain
        case .release: message = .release(origin: try reader.uint32(), count: try reader.uint16())
        case .order:
            let lease = try reader.uint64()
            guard let order = TransferOrder(rawValue: try reader.byte()) else { throw .invalid(.order) }
            message = .order(lease: lease, order)
        case .ready, .interim, .head, .data, .ended, .unshared, .connections, .wants, .closed, .forwards, nil:
            throw .unknownKind(frame.kind)
        }
        try reader.finish(frame, descriptors: descriptors)
        return message
    }

    /// What a `lease` frame says, without the message around it.
    ///
    /// - Parameter knownFields: Those of an earlier lease. They are shared when this one has the same, as most have.
    static func readLease(_ frame: FrameBuffer.Frame, knownFields: FieldLines) throws(FrameError) -> Lease {
        var reader = WireReader(frame.payload)
        let lease = try Lease.read(from: &reader, knownFields: knownFields)
        try reader.finish(frame, descriptors: lease.descriptorCount)
        return lease
    }
}

import TestSupport
import TrawlHTTP

@testable import TrawlProtocol

extension CoordinatorMessage {
    /// How many kinds there are for `random(kind:using:)`.
    static let kinds = 9

    static func random(kind: Int, using random: inout SeededGenerator) -> CoordinatorMessage {
        switch kind {
        case 0:
            .hello(
                Hello(
                    build: random.text(), segmentLayout: random.integer(), slot: random.integer(),
                    generation: random.integer(), leases: random.integer(), roots: roots(using: &random),
                    followsConnections: random.bool(), countsConnections: random.bool()))
        case 1: .profile(number: random.integer(), .random(using: &random))
        case 2: .lease(.random(using: &random))
        case 3:
            .answer(
                lease: random.integer(),
                random.pick([
                    .proceed, .cancel, .deliver, .redirectBody(.random(using: &random)), .keep(nil),
                    .keep(StoringOrder(session: nil, metadata: random.bytes(upTo: 40))),
                    .keep(
                        StoringOrder(
                            session: SessionID(random.integer(), random.integer()),
                            metadata: random.bytes(upTo: 40))),
                ]))
        case 4: .cancel(lease: random.integer())
        case 5: .credit(lease: random.integer(), bytes: random.integer())
        case 6: .release(origin: random.integer(), count: random.integer())
        case 7: .order(lease: random.integer(), random.pick(TransferOrder.allCases))
        default: .drain
        }
    }

    private static func roots(using random: inout SeededGenerator) -> [WorkerRoot] {
        var roots: [WorkerRoot] = []
        for path in random.texts() {
            roots.append(WorkerRoot(path: path, device: random.integer(), inode: random.integer()))
        }
        return roots
    }
}

extension WorkerMessage {
    /// How many kinds there are for `random(kind:using:)`.
    static let kinds = 10

    static func random(kind: Int, using random: inout SeededGenerator) -> WorkerMessage {
        switch kind {
        case 0: .ready(Ready(build: random.text(), segmentLayout: random.integer(), processID: random.integer()))
        case 1: .interim(lease: random.integer(), .random(statuses: [100, 102, 103, 199], using: &random))
        case 2:
            .head(
                lease: random.integer(), .random(using: &random),
                asks: random.pick([[], .storing, .disposition, .all]), isStored: random.bool())
        case 3: .data(lease: random.integer(), random.bytes(upTo: 300) + [7])
        case 4: .unshared(lease: random.integer())
        case 5: .connections(origin: random.integer(), open: random.integer())
        case 6:
            .wants(
                lease: random.integer(),
                MemoryWish(holding: random.integer(), total: random.integer(), isWhole: random.bool()))
        case 7: .closed(connection: random.integer())
        case 8: .forwards(lease: random.integer(), .random(using: &random))
        default: .ended(.random(using: &random))
        }
    }
}

extension TransferProfile {
    static func random(using random: inout SeededGenerator) -> TransferProfile {
        var profile = TransferProfile()
        profile.version = random.pick([.http1_0, .http1_1, .http2, .http2PriorKnowledge])
        profile.decoding = random.pick([.streaming, .off])
        profile.addressFamily = random.pick([.any, .ipv4, .ipv6])
        profile.connectTimeout = random.integer()
        profile.inactivityTimeout = random.integer()
        profile.firstByteTimeout = random.integer()
        profile.idleLifetime = random.integer()
        profile.headBytes = UInt32.random(in: 0...UInt32(WireProtocol.maximumHead), using: &random)
        profile.headFields = random.integer()
        profile.bodyBytes = random.integer()
        profile.memoryBytes = random.integer()
        profile.codingLayers = random.integer()
        profile.codingRatio = random.integer()
        profile.receiveBuffer = random.integer()
        profile.allowsHTTP = random.bool()
        profile.allowsHTTPS = random.bool()
        profile.tls = .random(using: &random)
        profile.resolve = random.texts()
        profile.connectTo = random.texts()
        profile.verifiesProxy = random.bool()
        profile.proxyCAFile = random.text()
        profile.interface = random.text()
        if random.bool() { profile.cache = .random(using: &random) }
        if random.bool() { profile.state = .random(using: &random) }
        return profile
    }
}

extension Lease {
    static func random(using random: inout SeededGenerator) -> Lease {
        var lease = Lease(
            id: random.integer(), profile: random.integer(), progressIndex: random.integer(),
            method: random.pick([.get, .post, .put, .options]), url: random.text(upTo: 60),
            fields: .random(using: &random))
        lease.body = random.pick([.none, .inline(random.bytes(upTo: 200)), .descriptor(length: random.integer())])
        lease.sink = .random(using: &random)
        lease.heads = random.pick([.withEnd, .early, .answered])
        lease.timeout = random.integer()
        lease.options = LeaseOptions(rawValue: random.integer()).intersection(.all)
        lease.identity = random.bytes(upTo: 40)
        lease.login = random.pick([
            nil, ConnectionLogin(.ntlm, user: random.text(), password: random.text()),
            ConnectionLogin(.negotiate, user: "", password: ""),
        ])
        lease.originLength = random.integer()
        lease.limits =
            [.unlimited, LimitNumbers(0), LimitNumbers(0, 1022), LimitNumbers(7, 0, 9)].randomElement(using: &random)
            ?? .unlimited
        lease.asksNobody = random.bool()
        lease.trusted = random.pick([
            .undecided, .accepted(random.bytes(upTo: 64)), .verified(random.bytes(upTo: 64)),
        ])
        if random.bool() { lease.part = max(1, random.integer()) }
        lease.cache = CacheAccess(rawValue: UInt8.random(in: 0...63, using: &random))
        if random.bool() { lease.proxy = .random(using: &random) }
        if random.bool() { lease.counted = CountedOrigin(number: random.integer(), most: random.integer()) }
        return lease
    }
}

extension ProxyRoute {
    static func random(using random: inout SeededGenerator) -> ProxyRoute {
        var route = ProxyRoute(
            random.pick(ProxyKind.allCases), host: "h" + random.text(upTo: 20).filter { $0 != "\0" },
            port: max(1, random.integer()))
        route.tunnels = random.bool()
        route.user = random.text()
        route.password = random.text()
        route.fields = .random(using: &random)
        route.identity = random.integer()
        if route.kind.speaksHTTP, random.bool() {
            route.login = ConnectionLogin(
                random.pick([.ntlm, .negotiate]), user: random.text(), password: random.text())
        }
        return route
    }
}

extension TLSTerms {
    static func random(using random: inout SeededGenerator) -> TLSTerms {
        var tls = TLSTerms()
        tls.verifiesPeer = random.bool()
        tls.verifiesHost = random.bool()
        tls.question = random.pick([.never, .unlessVerified, .always])
        tls.minimum = random.pick([.any, .tls1_0, .tls1_1, .tls1_2, .tls1_3])
        tls.maximum = random.pick([.any, .tls1_0, .tls1_1, .tls1_2, .tls1_3])
        tls.caFile = random.text()
        tls.caDirectory = random.text()
        tls.caData = random.bytes(upTo: 40)
        tls.pins = random.text()
        tls.ciphers = random.text()
        tls.ciphers13 = random.text()
        if random.bool() {
            var identity = TLSIdentity(certificate: .path(random.text()))
            if random.bool() { identity.certificate = .data(SecretBytes(random.bytes(upTo: 40))) }
            identity.certificateFormat = random.pick([.pem, .der, .pkcs12])
            if random.bool() { identity.key = .path(random.text()) }
            identity.keyFormat = random.pick([.pem, .der])
            identity.passphrase = SecretBytes(random.bytes(upTo: 20))
            tls.identity = identity
        }
        return tls
    }
}

extension CacheTerms {
    static func random(using random: inout SeededGenerator) -> CacheTerms {
        var terms = CacheTerms(directory: "/" + random.text().filter { $0 != "\0" }, budget: random.integer())
        terms.options = random.integer()
        terms.reload = random.pick([0, 1, 2])
        if random.bool() { terms.session = SessionID(random.integer(), random.integer()) }
        terms.respectsCacheControl = random.bool()
        terms.usesHeuristics = random.bool()
        terms.forcesFallback = random.bool()
        terms.stopsAtEqualTag = random.bool()
        if random.bool() { terms.lifetime = Int64(bitPattern: random.integer()) }
        return terms
    }
}

extension BodySink {
    static func random(using random: inout SeededGenerator) -> BodySink {
        random.pick([
            .discard, .memory, .file(root: random.integer(), path: random.text(), collision: .random(using: &random)),
            .descriptor, .stream(credit: random.integer()),
        ])
    }
}

extension FileCollision {
    static func random(using random: inout SeededGenerator) -> FileCollision {
        random.pick([
            .replace, .fail, .failUnlessIdentical, .number(from: random.integer(), adoptsIdentical: random.bool()),
            .onlyNumber(random.integer()),
        ])
    }
}

extension LeaseEnd {
    static func random(using random: inout SeededGenerator) -> LeaseEnd {
        let length: UInt64 = random.integer()
        var failure = HopFailure(
            random.pick(HopFailure.Kind.allCases), curlCode: random.integer(),
            systemError: Int32(bitPattern: random.integer()), requestSent: random.bool(), isUnmet: random.bool(),
            detail: random.text())
        failure.certificates = (0..<random.pick([0, 0, 3])).map { _ in random.bytes(upTo: 50) }
        var end = LeaseEnd(
            lease: random.integer(),
            outcome: random.pick([
                .complete(.discarded(length: length)), .complete(.inline(random.bytes(upTo: 300))),
                .complete(.memory(length: length)), .complete(.file(length: length)),
                .complete(
                    .file(
                        length: length, name: random.pick(["a", "ä/b.1", "..c/d%2Fe", ".../x"]),
                        isAdopted: random.bool())),
                .complete(.unnamed(length: length, name: random.pick([nil, "a", "ä/b.1"]))),
                .complete(.descriptor(length: length)), .complete(.streamed(length: length)), .failed(failure),
                .givenUp(requestSent: random.bool(), kept: length, isPassed: random.bool()),
            ]))
        if random.bool() { end.head = .random(using: &random) }
        end.trailers = .random(using: &random)
        end.decoded = random.texts()
        end.cache.source = random.pick(ResultSource.allCases)
        end.cache.isStored = random.bool()
        end.cache.wantsRevalidation = random.bool()
        end.cache.hasLostCookies = random.bool()
        if end.cache.source != .network {
            end.cache.serverFields = .random(using: &random)
            end.cache.exchange = random.pick([
                .unasked, .answered(status: .random(in: 200...999, using: &random)),
                .failed(
                    random.pick(HopFailure.Kind.allCases), systemError: Int32(bitPattern: random.integer()),
                    requestSent: random.bool(), hasHead: random.bool()),
            ])
        }
        end.connections = random.integer()
        end.metrics.nameResolved = random.integer()
        end.metrics.connected = random.integer()
        end.metrics.secured = random.integer()
        end.metrics.requestSent = random.integer()
        end.metrics.firstByte = random.integer()
        end.metrics.ended = random.integer()
        end.metrics.connection = random.integer()
        end.metrics.reusedConnection = random.bool()
        end.metrics.repeatedRequest = random.bool()
        end.metrics.bytesReceived = random.integer()
        end.metrics.bytesSent = random.integer()
        end.metrics.bodyBytes = random.integer()
        end.metrics.bodyBytesSent = random.integer()
        end.metrics.remoteAddress = random.text()
        end.metrics.remotePort = random.integer()
        return end
    }
}

extension ResponseHead {
    static func random(statuses: [UInt16] = [101, 200, 404, 999], using random: inout SeededGenerator) -> ResponseHead {
        ResponseHead(
            status: random.pick(statuses), version: random.pick(HTTPVersion.allCases), reason: random.text(),
            fields: .random(using: &random))
    }
}

extension FieldLines {
    static func random(using random: inout SeededGenerator) -> FieldLines {
        var fields = FieldLines()
        for _ in 0..<Int.random(in: 0...4, using: &random) {
            let value = random.text().filter { $0 != "\0" && $0 != "\n" }
            do {
                try fields.append(random.pick(["Host", "accept", "X-A", "~"]), value)
            } catch {
                // Names and values above are allowed.
                preconditionFailure("\(error)")
            }
        }
        return fields
    }
}

extension StateTerms {
    static func random(using random: inout SeededGenerator) -> StateTerms {
        var terms = StateTerms(directory: "/" + random.text().filter { $0 != "\0" })
        terms.jar = random.bool() ? "" : "jar"
        terms.session = random.integer()
        terms.endsSessionCookies = random.bool()
        return terms
    }
}

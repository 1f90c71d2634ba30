import Testing
import TrawlHTTP
import TrawlSession

@testable import TrawlStore

@Suite("Hosts that take secure transport only, in the state of a store")
struct HostTableTests {
    private let scratch = CacheScratch()

    private func withState(_ body: (StateStore) throws -> Void) throws {
        let state = try StateStore.open(store: scratch.path + "/store")
        defer { state.close() }
        try body(state)
    }

    private func make(_ changes: [TransportSecurity.Change], in state: StateStore) throws {
        try state.perform(.hosts) { (transaction) throws(StoreError) in
            try HostTable.make(changes, at: noon, in: transaction)
        }
    }

    private func host(_ name: String, for seconds: Int64 = 600, below: Bool = false) -> KnownSecureHost {
        KnownSecureHost(name: name, expires: noon.plus(seconds: seconds), includesSubdomains: below)
    }

    @Test("what is kept is there for the next opening, and what is forgotten is not")
    func keeping() throws {
        try withState { state in
            let none = try state.read(.hosts, HostTable.all)
            #expect(none == nil)
            try make([.keep(host("a.test", below: true)), .keep(host("b.test"))], in: state)
            try make([.keep(host("b.test", for: 900)), .keep(host("c.test")), .forget("a.test")], in: state)
            try make([.forget("a.test"), .keep(host("d.test", below: true))], in: state)
        }
        try withState { state in
            let wanted = [host("b.test", for: 900), host("c.test"), host("d.test", below: true)]
            let found = try state.read(.hosts, HostTable.all)
            #expect(found == wanted)
            let one = try state.read(.hosts) { (snapshot) throws(StoreError) -> [KnownSecureHost?] in
                [try HostTable.host(named: "c.test", snapshot), try HostTable.host(named: "a.test", snapshot)]
            }
            #expect(one == [host("c.test"), nil])
            #expect(state.changes(of: .cookies) == 0 || state.changes(of: .hosts) != 0)
        }
    }

    @Test("what changes nothing asks for no disk")
    func unchanged() throws {
        try withState { state in
            let steps: [([TransportSecurity.Change], Bool)] = [
                ([.forget("a.test")], false), ([.keep(host("a.test"))], true), ([.keep(host("a.test"))], false),
                ([.keep(host("a.test", for: 601))], true), ([.forget("b.test"), .forget("a.test")], true),
            ]
            for (changes, isNew) in steps {
                let wantsSync = try state.perform(.hosts) { (transaction) throws(StoreError) in
                    try HostTable.make(changes, at: noon, in: transaction)
                    return transaction.wantsSync
                }
                #expect(wantsSync == isNew, "\(changes)")
            }
        }
    }

    @Test("a damaged row is none, and the others stay")
    func damage() throws {
        try withState { state in
            try make([.keep(host("a.test")), .keep(host("b.test"))], in: state)
            try state.perform(.hosts) { (transaction) throws(StoreError) in
                try Array("a.test".utf8).span.withUnsafeBytes { (name) throws(StoreError) in
                    try [UInt8](repeating: 7, count: 24).span.withUnsafeBytes { (row) throws(StoreError) in
                        try transaction.put(StateSchema.hosts, name, row)
                    }
                }
            }
            let found = try state.read(.hosts, HostTable.all)
            #expect(found == [host("b.test")])
        }
    }

    @Test("when there are too many, those go that are over, then those that end first")
    func limit() throws {
        try withState { state in
            let many = (0...HostTable.limit).map {
                TransportSecurity.Change.keep(host("h\($0).test", for: Int64($0) - 5))
            }
            try make(many, in: state)
            let left = try #require(try state.read(.hosts, HostTable.all))
            #expect(left.count == HostTable.limit * 9 / 10)
            #expect(left.contains { $0.name == "h\(HostTable.limit).test" } && !left.contains { $0.name == "h6.test" })
        }
    }
}

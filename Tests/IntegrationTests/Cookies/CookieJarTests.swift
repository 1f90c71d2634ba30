import Foundation
import Testing
import Trawl

/// ASI-COOK-03, ASI-COOK-04, ASI-COOK-05, ASI-COOK-09, ASI-COOK-11.
@Suite("Cookie jars in a program's hands, ASI-COOK-04, 05, 09, 11", .timeLimit(.minutes(3)))
struct CookieJarTests {
    static let jars: [RequestOptions.Cookies.Jar] = [.shared, .named("own"), .memory("")]

    @Test("cookies are put in, found, listed and taken out", arguments: jars)
    func changes(jar: RequestOptions.Cookies.Jar) async throws {
        try await withScene { request in
            ScriptedOrigin.Answer(200, request.fields["cookie"] ?? "none")
        } _: { scene, coordinator in
            let cookies = coordinator.cookies(in: jar)
            #expect(try cookies.cookies().isEmpty)
            var cookie = Cookie("a", "1", domain: "127.0.0.1")
            try await cookies.set(cookie)
            cookie.value = "2"
            cookie.path = "/p"
            cookie.expires = Int64(Date().timeIntervalSince1970 + 600) * 1000
            try await cookies.set(cookie)
            let response = try await coordinator.get(scene.origin.url("/p")) { $0.cookies.jar = jar }
            #expect(response.bodyText == "a=2; a=1")
            #expect(try cookies.cookies().map(\.value) == ["1", "2"])
            #expect(try cookies.cookies(for: scene.origin.url("/")).map(\.value) == ["1"])
            #expect(try await cookies.remove(cookie))
            #expect(try await !cookies.remove(cookie))
            #expect(try cookies.cookies().map(\.value) == ["1"])
            #expect(try await cookies.removeAll(since: .max) == 0)
            #expect(try await cookies.removeAll { $0.name == "a" } == 1)
            #expect(try cookies.cookies().isEmpty)
            await #expect(throws: FetchError.self) { try await cookies.set(Cookie("a", "1\r\n2", domain: "x.org")) }
            await #expect(throws: FetchError.self) { try await cookies.set(Cookie("__Host-a", "1", domain: "x.org")) }
            try await cookies.set(Cookie("a", CookieText.encoded("1\r\n;2"), domain: "127.0.0.1"))
            #expect(try cookies.cookies().first.map { CookieText.decoded($0.value) } == "1\r\n;2")
        }
    }

    @Test("the jar of requests without one is empty and nobody else's", arguments: [true, false])
    func none(hasStore: Bool) async throws {
        try await withScene { _ in
            ScriptedOrigin.Answer(200, "", [("Set-Cookie", "a=1")])
        } _: { scene in
            try await scene.withCoordinator {
                if !hasStore { $0.store = .none }
            } _: { coordinator in
                _ = try await coordinator.get(scene.origin.url("/"))
                let none = coordinator.cookies(in: .none)
                #expect(try none.cookies().isEmpty)
                try await none.set(Cookie("b", "2", domain: "127.0.0.1"))
                _ = try await none.removeAll()
                #expect(try coordinator.cookies.cookies().map(\.name) == ["a"])
            }
        }
    }

    @Test("a jar with a name that none may have is no other jar: it refuses everything", arguments: [true, false])
    func impossibleNames(hasStore: Bool) async throws {
        try await withScene { _ in
            ScriptedOrigin.Answer()
        } _: { scene in
            try await scene.withCoordinator {
                if !hasStore { $0.store = .none }
            } _: { coordinator in
                let cookie = Cookie("a", "1", domain: "127.0.0.1")
                try await coordinator.cookies.set(cookie)
                for name in ["", String(repeating: "n", count: 256)] {
                    let jar = coordinator.cookies(in: .named(name))
                    let calls: [@Sendable () async throws -> Void] = [
                        { _ = try jar.cookies() }, { _ = try jar.cookies(for: "http://127.0.0.1/") },
                        { _ = try jar.exportNetscape() }, { try await jar.set(Cookie("b", "2", domain: "127.0.0.1")) },
                        { try await jar.set([]) }, { _ = try await jar.remove(cookie) },
                        { _ = try await jar.removeAll() }, { _ = try await jar.removeAll(since: 0) },
                        { _ = try await jar.removeAcceptedInSession() }, { _ = try await jar.importNetscape([]) },
                    ]
                    for (number, call) in calls.enumerated() {
                        let error = await #expect(throws: FetchError.self) { try await call() }
                        #expect(error?.code == .badRequest, "\(number)")
                    }
                    #expect(jar.problem?.code == .badRequest)
                }
                #expect(try coordinator.cookies.cookies().map(\.name) == ["a"])
            }
        }
    }

    @Test("without a store, too, jars are apart: named ones, and those in memory")
    func apart() async throws {
        try await withScene { request in
            ScriptedOrigin.Answer(200, request.fields["cookie"] ?? "none")
        } _: { scene in
            try await scene.withCoordinator {
                $0.store = .none
            } _: { coordinator in
                let jars: [RequestOptions.Cookies.Jar] = [.shared, .memory(""), .named("one"), .memory("one")]
                for (number, jar) in jars.enumerated() {
                    let cookie = Cookie("a", "\(number)", domain: "127.0.0.1")
                    try await coordinator.cookies(in: jar).set(cookie)
                }
                for (number, jar) in jars.enumerated() {
                    let response = try await coordinator.get(scene.origin.url("/")) { $0.cookies.jar = jar }
                    #expect(response.bodyText == "a=\(number)")
                }
            }
        }
    }

    @Test("a domain with a leading dot is for its hosts, and an IPv6 address needs no brackets", arguments: jars)
    func domains(jar: RequestOptions.Cookies.Jar) async throws {
        try await withScene { _ in
            ScriptedOrigin.Answer()
        } _: { _, coordinator in
            let cookies = coordinator.cookies(in: jar)
            let both = [Cookie("a", "1", domain: ".Example.org"), Cookie("b", "2", domain: "::1")]
            try await cookies.set(both)
            #expect(try cookies.cookies(for: "http://www.example.org/").map(\.domain) == ["example.org"])
            #expect(try cookies.cookies(for: "http://[::1]/").map(\.domain) == ["[::1]"])
            for cookie in both { #expect(try await cookies.remove(cookie)) }
        }
    }

    @Test("a cookie tells when it was made and last used", arguments: jars)
    func times(jar: RequestOptions.Cookies.Jar) async throws {
        try await withScene { _ in
            ScriptedOrigin.Answer(200)
        } _: { _, coordinator in
            let cookies = coordinator.cookies(in: jar)
            let cookie = Cookie("a", "1", domain: "127.0.0.1")
            #expect(cookie.created == 0)
            let before = Int64(Date().timeIntervalSince1970 * 1000)
            try await cookies.set(cookie)
            let after = Int64(Date().timeIntervalSince1970 * 1000) + 1
            let made = try #require(try cookies.cookies().first)
            #expect((before...after).contains(made.created) && made.lastUsed == made.created)
            // Of one that is set again the first counts.
            try await cookies.set(Cookie("a", "2", domain: "127.0.0.1"))
            let again = try #require(try cookies.cookies().first)
            #expect(again.value == "2" && again.created == made.created)
        }
    }

    @Test("a condition for removing may use the jar, and is asked once about each cookie", arguments: jars)
    func conditions(jar: RequestOptions.Cookies.Jar) async throws {
        try await withScene { request in
            ScriptedOrigin.Answer(200, request.fields["cookie"] ?? "none")
        } _: { scene, coordinator in
            let (cookies, url) = (coordinator.cookies(in: jar), scene.origin.url("/"))
            try await cookies.set(["a", "b", "c"].map { Cookie($0, "1", domain: "127.0.0.1") })
            var asked: [String] = []
            let count = try await cookies.removeAll { cookie in
                asked.append(cookie.name)
                // Nothing is removed while it is asked.
                let left = (try? cookies.cookies(for: url)) ?? []
                return left.count == 3 && cookie.name != "b"
            }
            #expect(count == 2 && asked.sorted() == ["a", "b", "c"])
            let response = try await coordinator.get(url) { $0.cookies.jar = jar }
            #expect(response.bodyText == "b=1")
            let rest = try await cookies.removeAll()
            #expect(rest == 1)
            #expect(try cookies.cookies().isEmpty)
        }
    }

    @Test("what this coordinator's fetches took can be removed; what was there before stays (ASI-COOK-03)")
    func accepted() async throws {
        try await withScene { request in
            ScriptedOrigin.Answer(200, request.fields["cookie"] ?? "none", [("Set-Cookie", "new=1; Max-Age=600")])
        } _: { scene in
            try await scene.withCoordinator { before in
                var cookie = Cookie("old", "1", domain: "127.0.0.1")
                cookie.expires = Int64(Date().timeIntervalSince1970 + 600) * 1000
                try await before.cookies.set(cookie)
            }
            try await scene.withCoordinator { coordinator in
                let response = try await coordinator.get(scene.origin.url("/"))
                #expect(response.bodyText == "old=1")
                #expect(response.cookies.map(\.name) == ["new"])
                #expect(try coordinator.cookies.cookies().map(\.name) == ["old", "new"])
                #expect(try await coordinator.cookies.removeAcceptedInSession() == 1)
                #expect(try await coordinator.get(scene.origin.url("/")).bodyText == "old=1")
            }
        }
    }

    @Test("a cookie without a time that a program sets or imports ends with the coordinator, unless such are kept")
    func sessions() async throws {
        try await withScene { _ in
            ScriptedOrigin.Answer()
        } _: { scene in
            func put(into coordinator: Coordinator) async throws {
                let cookies = coordinator.cookies
                var lasting = Cookie("lasting", "1", domain: "x.org")
                lasting.expires = Int64(Date().timeIntervalSince1970 + 600) * 1000
                try await cookies.set([Cookie("set", "1", domain: "x.org"), lasting])
                _ = try await cookies.importNetscape(Array("x.org\tFALSE\t/\tFALSE\t0\timported\t1\n".utf8))
                #expect(try cookies.cookies().map(\.name).sorted() == ["imported", "lasting", "set"])
            }
            func expect(_ names: [String], in coordinator: Coordinator) throws {
                let left = try coordinator.cookies.cookies().map(\.name).sorted()
                #expect(left == names)
            }
            try await scene.withCoordinator { try await put(into: $0) }
            try await scene.withCoordinator { try expect(["lasting"], in: $0) }
            try await scene.withCoordinator {
                $0.cookies.endsSessionCookies = false
            } _: {
                try await put(into: $0)
            }
            try await scene.withCoordinator { try expect(["imported", "lasting", "set"], in: $0) }
        }
    }

    @Test("no cookie is stored that nothing would end with its session")
    func withoutSession() async throws {
        try await withScene { _ in
            ScriptedOrigin.Answer(200, "", [("Set-Cookie", "sid=1")])
        } _: { scene in
            // Its file cannot be made: where sessions would be, there is a file.
            let sessions = scene.directory.file("store/state/sessions")
            try await scene.withCoordinator { _ = try await $0.get(scene.origin.url("/")) }
            try FileManager.default.removeItem(atPath: sessions)
            try scene.directory.put("store/state/sessions", [])
            try await scene.withCoordinator { coordinator in
                let response = try await coordinator.get(scene.origin.url("/"))
                #expect(response.status == 200 && response.cookies.map(\.name) == ["sid"])
                #expect(coordinator.cookies.problem != nil)
            }
            try FileManager.default.removeItem(atPath: sessions)
            try await scene.withCoordinator { coordinator in
                let names = try coordinator.cookies.cookies().map(\.name)
                #expect(names == [])
            }
        }
    }

    @Test("changes are told, those of other coordinators too")
    func notices() async throws {
        try await withScene { _ in
            ScriptedOrigin.Answer(200, "", [("Set-Cookie", "a=1")])
        } _: { scene in
            try await scene.withCoordinator { watcher in
                try await scene.withCoordinator { other in
                    var changes = watcher.cookies.changes.makeAsyncIterator()
                    _ = try await other.get(scene.origin.url("/"))
                    let first = try #require(await changes.next())
                    try await other.cookies.set(Cookie("b", "1", domain: "x.org"))
                    let second = try #require(await changes.next())
                    #expect(second > first)
                }
            }
        }
    }

    @Test("a file as curl writes it goes in and comes out again")
    func files() async throws {
        try await withScene { _ in
            ScriptedOrigin.Answer()
        } _: { _, coordinator in
            let text = """
                # Netscape HTTP Cookie File

                #HttpOnly_.example.org\tTRUE\t/\tTRUE\t4102444800\ta\t1
                example.org\tFALSE\t/p\tFALSE\t0\tb\t2
                no cookie
                """
            let (stored, refused) = try await coordinator.cookies.importNetscape(Array(text.utf8))
            #expect(stored == 2 && refused == [5])
            let out = String(decoding: try coordinator.cookies.exportNetscape(), as: UTF8.self)
            #expect(out.contains("#HttpOnly_.example.org\tTRUE\t/\tTRUE\t4102444800\ta\t1\n"))
            #expect(out.contains("\nexample.org\tFALSE\t/p\tFALSE\t0\tb\t2\n"))
            #expect("\(try coordinator.cookies.cookies()[0])" == "a for .example.org/")
        }
    }
}

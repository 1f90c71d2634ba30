import Testing
import TrawlHTTP

@Suite("Where connections go, as in curl 7.88")
struct ConnectRoutesTests {
    private func place(
        _ host: String, _ port: UInt16 = 80, resolve: [String], connectTo: [String] = []
    ) -> String? {
        ConnectRoutes(resolve: resolve, connectTo: connectTo)
            .place(of: Origin(scheme: "http", host: host, port: port))
    }

    @Test(
        "of several entries for a name and port the last one counts, a name goes before *, and - takes back",
        arguments: [
            (["*:80:127.0.0.1", "a:80:127.0.0.2"], "127.0.0.2:80"),
            (["a:80:127.0.0.2", "*:80:127.0.0.1"], "127.0.0.2:80"),
            (["a:80:127.0.0.1", "a:80:127.0.0.2"], "127.0.0.2:80"),
            (["a:80:127.0.0.1", "A:80:127.0.0.2"], "127.0.0.2:80"),
            (["*:80:127.0.0.1", "*:80:127.0.0.2"], "127.0.0.2:80"),
            (["a:80:127.0.0.1", "a:81:127.0.0.2"], "127.0.0.1:80"),
            (["a:80:127.0.0.1", "-a:80"], nil),
            (["a:80:127.0.0.1", "-A:80"], nil),
            (["a:80:127.0.0.1", "-a:81"], "127.0.0.1:80"),
            (["a:80:127.0.0.1", "*:80:127.0.0.2", "-a:80"], "127.0.0.2:80"),
            (["a:80:127.0.0.1", "*:80:127.0.0.2", "-*:80"], "127.0.0.1:80"),
            (["-a:80", "+a:80:127.0.0.1,127.0.0.2"], "127.0.0.1:80"),
            (["A:80:::1"], "[::1]:80"),
        ] as [([String], String?)])
    func entries(resolve: [String], expected: String?) {
        #expect(place("a", resolve: resolve) == expected)
    }

    @Test(
        "a place that a route leads to has the address of its name",
        arguments: [
            // The route leaves the host out.
            (["a:81:127.0.0.1"], ["a:80::81"], "127.0.0.1:81"),
            (["a:81:127.0.0.1"], [":::81"], "127.0.0.1:81"),
            (["b:81:127.0.0.1"], [":::81"], "a:81"),
            (["*:81:127.0.0.2", "a:81:127.0.0.1"], [":80::81"], "127.0.0.1:81"),
            (["*:81:127.0.0.2", "b:81:127.0.0.1"], [":80::81"], "127.0.0.2:81"),
            (["*:81:127.0.0.2"], ["a:80::81"], "127.0.0.2:81"),
            (["b:81:127.0.0.1"], ["a:80::81"], "a:81"),
            // It names one.
            (["*:81:127.0.0.1"], ["a:80:b:81"], "127.0.0.1:81"),
            (["*:81:127.0.0.1", "b:81:127.0.0.2"], ["a:80:b:81"], "127.0.0.2:81"),
            (["B:81:127.0.0.1"], ["A:80:b:81"], "127.0.0.1:81"),
            (["b:82:127.0.0.1"], ["a:80:b:81"], "b:81"),
            // It leaves the port out.
            (["b:80:127.0.0.1"], ["a::b:"], "127.0.0.1:80"),
            (["b:81:127.0.0.1"], ["a::b:"], "b:80"),
            (["b:80:127.0.0.1"], ["a:80:b:"], "127.0.0.1:80"),
            // The first that fits decides; one that says nothing does not.
            (["a:80:127.0.0.1"], ["a:80:b:81"], "b:81"),
            (["a:80:127.0.0.1"], ["a:80::"], "127.0.0.1:80"),
            (["c:81:127.0.0.1"], ["a:80:b:81", "a:80:c:81"], "b:81"),
        ] as [([String], [String], String)])
    func routes(resolve: [String], connectTo: [String], expected: String) {
        #expect(place("a", resolve: resolve, connectTo: connectTo) == expected)
    }

    @Test("addresses of other ports and hosts leave a route as it is")
    func others() {
        let resolve = ["b:81:127.0.0.1", "*:82:127.0.0.2"]
        #expect(place("b", resolve: resolve, connectTo: [":80::81"]) == "127.0.0.1:81")
        #expect(place("c", resolve: resolve, connectTo: [":80::81"]) == "c:81")
        #expect(place("c", 82, resolve: resolve, connectTo: [":80::81"]) == "127.0.0.2:82")
        #expect(place("c", 83, resolve: resolve, connectTo: [":80::81"]) == nil)
    }
}

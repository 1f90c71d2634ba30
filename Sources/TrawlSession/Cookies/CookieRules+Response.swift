package import TrawlHTTP

extension CookieRules {
    /// Calls `body` with the value of each `Set-Cookie` line, in order. Each counts on its own (RFC 6265bis §3).
    package static func forEachLine(in fields: FieldLines, _ body: (UnsafeRawBufferPointer) -> Void) {
        fields.forEach { name, value in
            if name.isIgnoringCase("set-cookie") { body(value) }
        }
    }

    /// The cookies of a response, stored or not: those that the rules allow, with what is over left out.
    package static func cookies(
        in fields: FieldLines, from target: CookieTarget, under conditions: CookieConditions = .init(),
        at now: WallTime
    ) -> [Cookie] {
        var cookies: [Cookie] = []
        forEachLine(in: fields) { line in
            guard let received = try? receive(line, from: target, under: conditions, at: now), !received.isExpired
            else { return }
            cookies.append(received.record.withView { Cookie($0) })
        }
        return cookies
    }
}

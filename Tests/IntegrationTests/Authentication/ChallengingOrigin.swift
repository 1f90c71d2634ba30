import Foundation

/// What an origin asks for and takes, for tests whose point is when and how often something is said.
enum ChallengingOrigin {
    /// The field value of Basic.
    static func basic(_ user: String, _ password: String) -> String {
        "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
    }

    /// A challenge, with a body and a length.
    static func challenge(_ value: String = #"Basic realm="here""#, body: String = "who?") -> ScriptedOrigin.Answer {
        ScriptedOrigin.Answer(401, body, [("WWW-Authenticate", value)])
    }

    /// An answer to who says this, a challenge to all others.
    static func taking(_ field: String, _ challenge: String = #"Basic realm="here""#)
        -> @Sendable (ScriptedOrigin.Seen)
        -> ScriptedOrigin.Answer
    {
        { seen in
            seen.fields["authorization"] == field
                ? ScriptedOrigin.Answer(200, "welcome \(seen.target)") : Self.challenge(challenge)
        }
    }

    /// A parameter of a field of Digest.
    static func parameter(_ name: String, of field: String) -> String? {
        for part in field.dropFirst(7).components(separatedBy: ", ") where part.hasPrefix(name + "=") {
            return part.dropFirst(name.count + 1).trimmingCharacters(in: ["\""])
        }
        return nil
    }
}

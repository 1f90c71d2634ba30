/// Which build of the package this is; coordinator and worker must be of the same.
package enum BuildIdentity {
    /// The package's version, as in `0.1.0`.
    package static let version = "0.1.0"
    /// The program and its version, for people.
    package static let name = "trawl \(version)"
    /// The formats of all that coordinator and workers both read and write: a process with another one would throw away
    /// what the rest has stored, or could not read it. A test compares them with those of the stores.
    package static let formats = "cache 3, record 2, header 1, uses 2, turns 1, state 1, cookie 1, host 1"
    /// What both sides compare in the handshake. What else changes between two versions is not seen by it.
    package static let text = "\(name) (\(formats))"
}

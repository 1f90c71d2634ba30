/// Which build of the package this is; coordinator and worker must be of the same.
package enum BuildIdentity {
    /// The package's version, as in `0.1.0`.
    package static let version = "0.1.0"
    /// What both sides compare in the handshake.
    package static let text = "trawl \(version)"
}

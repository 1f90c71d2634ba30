/// What one host has to do.
package struct HostLoad: Sendable, Hashable {
    /// Its number.
    package var host: UInt32
    /// Hops in process.
    package var inProcess: Int
    /// Hops that wait.
    package var waiting: Int
    /// What it is doing.
    package var state: HostState
    /// How its circuit stands.
    package var circuit: HostCircuit.State
}

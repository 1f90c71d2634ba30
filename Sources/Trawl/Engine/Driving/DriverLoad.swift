/// How busy the workers are, as the last turn's fetches left them.
package struct DriverLoad: Sendable {
    /// Whether a worker could take one more: what waits, if any does, is of hosts that may have no more in flight now.
    package var hasRoom = false
    /// Whether that is so of a quarter of what may be in flight, and more. A turn that starts fetches and leaves so
    /// much room has another one after it at once.
    package var hasIdleWorkers = false
    /// How many fetches wait for a time or for the network, and for no worker: most of them to be tried again.
    package var waiting = 0
}

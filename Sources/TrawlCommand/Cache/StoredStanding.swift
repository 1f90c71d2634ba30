/// Whether a stored response answers without the server being asked.
enum StoredStanding: String {
    case fresh
    case stale
    /// It says itself that it is to be validated before each use.
    case noCache = "no-cache"
}

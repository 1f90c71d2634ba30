/// Numbers of bytes for people, in powers of 1024.
enum ByteText {
    /// At most six characters up to petabytes: `512B`, `1.5K`, `100M`.
    static func short(_ bytes: UInt64) -> String {
        bytes < 1024 ? "\(bytes)B" : short(Double(bytes))
    }

    /// As above, for rates.
    static func short(_ bytes: Double) -> String {
        guard bytes.isFinite, bytes > 0 else { return "0B" }
        var value = bytes
        for unit in ["B", "K", "M", "G", "T"] {
            if value < 1000 || unit == "T" {
                if unit == "B" || value >= 100 { return "\(Int(min(value, 1e9).rounded(.down)))\(unit)" }
                let tenths = Int((value * 10).rounded(.down))
                return "\(tenths / 10).\(tenths % 10)\(unit)"
            }
            value /= 1024
        }
        return "0B"
    }
}

import TrawlJSON

/// Short JSON texts read whole.
enum JSONText {
    /// What a JSON string stands for; nil when it is none, or has no text.
    static func string(_ json: UnsafeRawBufferPointer) -> String? {
        do throws(JSONError) {
            var reader = try JSONReader(json)
            return try reader.text(of: reader.readString())
        } catch {
            return nil
        }
    }
}

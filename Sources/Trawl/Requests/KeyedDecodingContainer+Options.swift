extension KeyedDecodingContainer {
    /// Reads a value in the place of the one that is there; that stays where nothing was written down. So options that
    /// came later than what is read are as by default.
    func read<Value: Decodable>(_ key: Key, into value: inout Value) throws {
        if let found = try decodeIfPresent(Value.self, forKey: key) { value = found }
    }
}

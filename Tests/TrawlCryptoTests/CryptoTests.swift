import Testing
import TrawlCrypto

private func bytes(_ hexadecimal: String) -> [UInt8] {
    var result: [UInt8] = []
    var rest = hexadecimal[...]
    while let byte = UInt8(rest.prefix(2), radix: 16) {
        result.append(byte)
        rest = rest.dropFirst(2)
    }
    return result
}

@Suite("Hashes, sealing and passphrase keys")
struct CryptoTests {
    @Test(
        "hashes of nothing and of abc",
        arguments: [
            (MessageHash.md5, "", "d41d8cd98f00b204e9800998ecf8427e"),
            (.md5, "abc", "900150983cd24fb0d6963f7d28e17f72"),
            (.sha256, "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            (.sha256, "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (.sha512Slash256, "abc", "53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23"),
        ])
    func hashes(function: MessageHash, text: String, wanted: String) {
        #expect(Array(text.utf8).withUnsafeBytes { function($0) } == bytes(wanted))
        #expect(function.isAvailable)
    }

    @Test("the key of a passphrase is that of RFC 7914 §12")
    func passphrases() throws {
        // The first 32 bytes of its third vector, under which Python's cryptography sealed this with nonce 000102…0b.
        let key = try #require(SealingKey(passphrase: "pleaseletmein", salt: Array("SodiumChloride".utf8), cost: 14))
        let sealed = bytes(
            "000102030405060708090a0b13ed606db175249acc10baf9a6cc1"
                + "782e289aa669aa84672102da4883a6b7b56b25fb170d87f6c97eb")
        let plain = sealed.withUnsafeBytes { key.open($0, context: [1, 2]) }
        #expect(plain.map { String(decoding: $0, as: UTF8.self) } == "sealed by another program")
        #expect(SealingKey(passphrase: "x", salt: [1], cost: 40) == nil)
    }

    /// A key that costs little.
    private func key(_ passphrase: String = "one") throws -> SealingKey {
        try #require(SealingKey(passphrase: passphrase, salt: [1], cost: 10))
    }

    @Test("what is sealed opens with the same key and context, whole and unchanged, and not otherwise")
    func sealing() throws {
        let (key, other) = (try key(), try key("other"))
        for text in ["", "s", String(repeating: "secret ", count: 1000)] {
            let plain = Array(text.utf8)
            let sealed = try #require(plain.withUnsafeBytes { key.seal($0, context: [1, 2]) })
            #expect(sealed.count == plain.count + SealingKey.overhead)
            let again = try #require(plain.withUnsafeBytes { key.seal($0, context: [1, 2]) })
            #expect(sealed != again)
            func open(_ key: SealingKey, _ bytes: [UInt8], _ context: [UInt8] = [1, 2]) -> [UInt8]? {
                bytes.withUnsafeBytes { key.open($0, context: context) }
            }
            #expect(open(key, sealed) == plain)
            #expect(open(other, sealed) == nil && open(key, sealed, [1]) == nil)
            for place in [0, sealed.count / 2, sealed.count - 1] {
                var changed = sealed
                changed[place] ^= 1
                #expect(open(key, changed) == nil)
            }
            #expect(open(key, Array(sealed.dropLast())) == nil && open(key, []) == nil)
        }
    }

    @Test("a key shows nothing of itself")
    func printing() throws {
        let key = try key()
        var dumped = ""
        dump(key, to: &dumped)
        #expect("\(key)" == "sealing key" && dumped == "- sealing key #0\n", "\(dumped)")
    }

    @Test("wiped bytes are zero")
    func wiping() {
        var secret: [UInt8] = [1, 2, 3]
        secret.withUnsafeMutableBytes(wipe)
        #expect(secret == [0, 0, 0])
    }
}

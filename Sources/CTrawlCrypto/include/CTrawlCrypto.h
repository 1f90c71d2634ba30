/// Hashes, sealing and passphrase keys by libcrypto, which is loaded at the first use; see
/// docs/decisions/0022-secrets-by-libcrypto.md.
///
/// Every function but the first gives zero or more, or -1 when libcrypto is missing or refuses.
#ifndef CCRYPTO_H
#define CCRYPTO_H

#include <stddef.h>
#include <stdint.h>

#define CCRYPTO_MD5 1
#define CCRYPTO_SHA256 2
#define CCRYPTO_SHA512_256 3

/// Whether libcrypto is there.
int32_t ccrypto_is_loaded(void);

/// Writes the hash of `bytes` to `hash`, which has room for 32 bytes; its length.
int32_t ccrypto_hash(int32_t kind, const void *bytes, size_t count, uint8_t *hash);

/// Seals by ChaCha20 and Poly1305 (RFC 8439): writes `count` bytes, then 16 of the tag. The key has 32 bytes, the nonce 12.
int32_t ccrypto_seal(const uint8_t *key, const uint8_t *nonce, const void *context, size_t context_count,
                     const void *plain, size_t count, uint8_t *sealed);

/// Opens what `ccrypto_seal` made: `count` bytes and the tag behind them. -1 when a single bit is another one.
int32_t ccrypto_open(const uint8_t *key, const uint8_t *nonce, const void *context, size_t context_count,
                     const uint8_t *sealed, size_t count, void *plain);

/// Writes a key of 32 bytes made of a passphrase by scrypt (RFC 7914).
int32_t ccrypto_scrypt(const void *passphrase, size_t passphrase_count, const uint8_t *salt, size_t salt_count, uint64_t n,
                       uint64_t r, uint64_t p, uint8_t *key);

/// Overwrites memory in a way that no compiler leaves out.
void ccrypto_wipe(void *bytes, size_t count);

#endif

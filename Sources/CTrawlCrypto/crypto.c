#define _GNU_SOURCE
#include "CTrawlCrypto.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>

enum { tag_size = 16, set_tag = 0x11, get_tag = 0x10 };

/* Functions of OpenSSL 3's libcrypto, whose signatures are part of its stable interface. */
static struct {
    int (*digest)(const void *bytes, size_t count, unsigned char *hash, unsigned int *size, const void *type, void *engine);
    const void *(*md5)(void);
    const void *(*sha256)(void);
    const void *(*sha512_256)(void);
    const void *(*chacha)(void);
    void *(*context_new)(void);
    void (*context_free)(void *context);
    int (*encrypt_init)(void *context, const void *type, void *engine, const unsigned char *key, const unsigned char *nonce);
    int (*encrypt_update)(void *context, unsigned char *out, int *size, const unsigned char *in, int count);
    int (*encrypt_final)(void *context, unsigned char *out, int *size);
    int (*decrypt_init)(void *context, const void *type, void *engine, const unsigned char *key, const unsigned char *nonce);
    int (*decrypt_update)(void *context, unsigned char *out, int *size, const unsigned char *in, int count);
    int (*decrypt_final)(void *context, unsigned char *out, int *size);
    int (*control)(void *context, int what, int number, void *bytes);
    int (*scrypt)(const char *passphrase, size_t count, const unsigned char *salt, size_t salt_count, uint64_t n, uint64_t r,
                  uint64_t p, uint64_t memory, unsigned char *key, size_t key_count);
} crypto;
static int loaded;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void) {
    void *handle = dlopen("libcrypto.so.3", RTLD_LAZY | RTLD_LOCAL);
    if (handle == NULL) {
        return;
    }
    const struct {
        void **function;
        const char *name;
    } all[] = {
        {(void **)&crypto.digest, "EVP_Digest"},
        {(void **)&crypto.md5, "EVP_md5"},
        {(void **)&crypto.sha256, "EVP_sha256"},
        {(void **)&crypto.sha512_256, "EVP_sha512_256"},
        {(void **)&crypto.chacha, "EVP_chacha20_poly1305"},
        {(void **)&crypto.context_new, "EVP_CIPHER_CTX_new"},
        {(void **)&crypto.context_free, "EVP_CIPHER_CTX_free"},
        {(void **)&crypto.encrypt_init, "EVP_EncryptInit_ex"},
        {(void **)&crypto.encrypt_update, "EVP_EncryptUpdate"},
        {(void **)&crypto.encrypt_final, "EVP_EncryptFinal_ex"},
        {(void **)&crypto.decrypt_init, "EVP_DecryptInit_ex"},
        {(void **)&crypto.decrypt_update, "EVP_DecryptUpdate"},
        {(void **)&crypto.decrypt_final, "EVP_DecryptFinal_ex"},
        {(void **)&crypto.control, "EVP_CIPHER_CTX_ctrl"},
        {(void **)&crypto.scrypt, "EVP_PBE_scrypt"},
    };
    for (size_t index = 0; index < sizeof all / sizeof all[0]; index++) {
        *all[index].function = dlsym(handle, all[index].name);
        if (*all[index].function == NULL) {
            return;
        }
    }
    loaded = 1;
}

int32_t ccrypto_is_loaded(void) {
    pthread_once(&once, load);
    return loaded;
}

int32_t ccrypto_hash(int32_t kind, const void *bytes, size_t count, uint8_t *hash) {
    if (!ccrypto_is_loaded()) {
        return -1;
    }
    const void *type = kind == CCRYPTO_MD5          ? crypto.md5()
                       : kind == CCRYPTO_SHA256     ? crypto.sha256()
                       : kind == CCRYPTO_SHA512_256 ? crypto.sha512_256()
                                                    : NULL;
    unsigned int size = 0;
    if (type == NULL || crypto.digest(bytes, count, hash, &size, type, NULL) != 1 || size > 32) {
        return -1;
    }
    return (int32_t)size;
}

int32_t ccrypto_seal(const uint8_t *key, const uint8_t *nonce, const void *context, size_t context_count,
                     const void *plain, size_t count, uint8_t *sealed) {
    if (!ccrypto_is_loaded() || count > INT_MAX || context_count > INT_MAX) {
        return -1;
    }
    void *cipher = crypto.context_new();
    if (cipher == NULL) {
        return -1;
    }
    int size = 0;
    int ok = crypto.encrypt_init(cipher, crypto.chacha(), NULL, key, nonce) == 1 &&
             crypto.encrypt_update(cipher, NULL, &size, context, (int)context_count) == 1 &&
             crypto.encrypt_update(cipher, sealed, &size, plain, (int)count) == 1 && size == (int)count &&
             crypto.encrypt_final(cipher, sealed + count, &size) == 1 &&
             crypto.control(cipher, get_tag, tag_size, sealed + count) == 1;
    crypto.context_free(cipher);
    return ok ? 0 : -1;
}

int32_t ccrypto_open(const uint8_t *key, const uint8_t *nonce, const void *context, size_t context_count,
                     const uint8_t *sealed, size_t count, void *plain) {
    if (!ccrypto_is_loaded() || count > INT_MAX || context_count > INT_MAX) {
        return -1;
    }
    void *cipher = crypto.context_new();
    if (cipher == NULL) {
        return -1;
    }
    int size = 0;
    int ok = crypto.decrypt_init(cipher, crypto.chacha(), NULL, key, nonce) == 1 &&
             crypto.decrypt_update(cipher, NULL, &size, context, (int)context_count) == 1 &&
             crypto.decrypt_update(cipher, plain, &size, sealed, (int)count) == 1 && size == (int)count &&
             crypto.control(cipher, set_tag, tag_size, (void *)(sealed + count)) == 1 &&
             crypto.decrypt_final(cipher, (unsigned char *)plain + count, &size) == 1;
    crypto.context_free(cipher);
    if (!ok) {
        ccrypto_wipe(plain, count);
    }
    return ok ? 0 : -1;
}

int32_t ccrypto_scrypt(const void *passphrase, size_t passphrase_count, const uint8_t *salt, size_t salt_count, uint64_t n,
                       uint64_t r, uint64_t p, uint8_t *key) {
    /* Room for 128 * r * (n + p + 2) bytes; without a bound of ours libcrypto refuses all above 32 MiB. */
    uint64_t room = 128 * r * (n + p + 32);
    if (!ccrypto_is_loaded() ||
        crypto.scrypt(passphrase, passphrase_count, salt, salt_count, n, r, p, room, key, 32) != 1) {
        return -1;
    }
    return 0;
}

void ccrypto_wipe(void *bytes, size_t count) {
    if (count > 0) {
        explicit_bzero(bytes, count);
    }
}

#define _GNU_SOURCE
#include "CTrawlBlob.h"

#include <dlfcn.h>
#include <pthread.h>

/* The six functions of libcrypto's message digests, whose signatures are part of its stable interface. The library is
 * loaded when a body is first written to a blob: a worker has it through libcurl already, other processes rarely need it. */
static struct {
    void *(*context_new)(void);
    void (*context_free)(void *context);
    const void *(*sha256)(void);
    int (*init)(void *context, const void *type, void *engine);
    int (*update)(void *context, const void *bytes, size_t count);
    int (*final)(void *context, unsigned char *digest, unsigned int *size);
} crypto;
static int loaded;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void) {
    void *handle = dlopen("libcrypto.so.3", RTLD_LAZY | RTLD_LOCAL);
    if (handle == NULL) {
        return;
    }
    *(void **)&crypto.context_new = dlsym(handle, "EVP_MD_CTX_new");
    *(void **)&crypto.context_free = dlsym(handle, "EVP_MD_CTX_free");
    *(void **)&crypto.sha256 = dlsym(handle, "EVP_sha256");
    *(void **)&crypto.init = dlsym(handle, "EVP_DigestInit_ex");
    *(void **)&crypto.update = dlsym(handle, "EVP_DigestUpdate");
    *(void **)&crypto.final = dlsym(handle, "EVP_DigestFinal_ex");
    loaded = crypto.context_new != NULL && crypto.context_free != NULL && crypto.sha256 != NULL && crypto.init != NULL &&
             crypto.update != NULL && crypto.final != NULL;
}

cblob_running_digest *cblob_digest_create(void) {
    pthread_once(&once, load);
    if (!loaded) {
        return NULL;
    }
    void *context = crypto.context_new();
    if (context != NULL && crypto.init(context, crypto.sha256(), NULL) != 1) {
        crypto.context_free(context);
        return NULL;
    }
    return context;
}

void cblob_digest_free(cblob_running_digest *running) {
    crypto.context_free(running);
}

int32_t cblob_digest_update(cblob_running_digest *running, const void *bytes, size_t count) {
    return crypto.update(running, bytes, count) == 1 ? 0 : -1;
}

int32_t cblob_digest_finish(cblob_running_digest *running, uint8_t *digest) {
    unsigned int size = 0;
    return crypto.final(running, digest, &size) == 1 && size == 32 ? 0 : -1;
}

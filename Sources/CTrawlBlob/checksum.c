#define XXH_INLINE_ALL
#include <xxhash.h>

#include "CTrawlBlob.h"

uint64_t cblob_checksum(const void *bytes, size_t count) {
    return XXH3_64bits(bytes, count);
}

void cblob_hash(const void *bytes, size_t count, uint64_t *first, uint64_t *last) {
    XXH128_hash_t hash = XXH3_128bits(bytes, count);
    *first = hash.low64;
    *last = hash.high64;
}

cblob_running_checksum *cblob_checksum_create(void) {
    XXH3_state_t *state = XXH3_createState();
    if (state != NULL) {
        XXH3_64bits_reset(state);
    }
    return (cblob_running_checksum *)state;
}

void cblob_checksum_free(cblob_running_checksum *running) {
    XXH3_freeState((XXH3_state_t *)running);
}

void cblob_checksum_reset(cblob_running_checksum *running) {
    XXH3_64bits_reset((XXH3_state_t *)running);
}

void cblob_checksum_update(cblob_running_checksum *running, const void *bytes, size_t count) {
    XXH3_64bits_update((XXH3_state_t *)running, bytes, count);
}

uint64_t cblob_checksum_value(const cblob_running_checksum *running) {
    return XXH3_64bits_digest((const XXH3_state_t *)running);
}

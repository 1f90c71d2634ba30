/// Checksums, digests and the few file calls that blobs need and Swift cannot make.
///
/// Functions are thin wrappers. Those that return int32_t or int64_t give zero or more, and `-errno` on failure.
#ifndef CBLOB_H
#define CBLOB_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

// XXH3, 64 bits, seed 0.

uint64_t cblob_checksum(const void *bytes, size_t count);

/// XXH3, 128 bits: its halves. For names of rows; whoever finds one compares the whole key.
void cblob_hash(const void *bytes, size_t count, uint64_t *first, uint64_t *last);

/// A running checksum; NULL when memory ran out.
typedef struct cblob_running_checksum cblob_running_checksum;
cblob_running_checksum *cblob_checksum_create(void);
void cblob_checksum_free(cblob_running_checksum *running);
/// Starts anew.
void cblob_checksum_reset(cblob_running_checksum *running);
void cblob_checksum_update(cblob_running_checksum *running, const void *bytes, size_t count);
/// Of all bytes so far; more may follow.
uint64_t cblob_checksum_value(const cblob_running_checksum *running);

// SHA-256 by libcrypto, which is loaded at the first use; see docs/decisions/0016-blob-digests-by-libcrypto.md.

typedef struct cblob_running_digest cblob_running_digest;
/// NULL when libcrypto is not there or memory ran out.
cblob_running_digest *cblob_digest_create(void);
void cblob_digest_free(cblob_running_digest *running);
/// 0, or -1 when libcrypto failed.
int32_t cblob_digest_update(cblob_running_digest *running, const void *bytes, size_t count);
/// Writes 32 bytes. Nothing may follow. 0, or -1 when libcrypto failed.
int32_t cblob_digest_finish(cblob_running_digest *running, uint8_t *digest);

// Files. Descriptors are close-on-exec from birth.

/// openat(2) with O_CLOEXEC added.
int32_t cblob_openat(int32_t directory, const char *path, int32_t flags, uint32_t mode);
/// open(2) of a file without a name in a directory (O_TMPFILE), for reading and writing.
int32_t cblob_open_unnamed(int32_t directory, uint32_t mode);
/// linkat(2).
int32_t cblob_link(int32_t from_directory, const char *from, int32_t directory, const char *name);
/// Size, time of last change in seconds since 1970, and link count of an open regular file; -EINVAL when it is none.
int32_t cblob_status(int32_t fd, int64_t *size, int64_t *changed, int64_t *links);

/// posix_fallocate(3): `size` bytes from the start whose space on disk is reserved.
int32_t cblob_reserve(int32_t fd, int64_t size);
/// The bytes that are free on the file system of a path, and all it has: 1 where a write to a page that is mapped takes new
/// space each time after the page went to the disk, whether it was reserved or not; 0, and no numbers, where it does not.
int32_t cblob_fault_room(const char *path, uint64_t *available, uint64_t *size);
/// mmap(2) of a file from its start, shared, for reading and writing.
int32_t cblob_map(int32_t fd, size_t size, void **address);
int32_t cblob_unmap(void *address, size_t size);

/// The names of an open directory, which it takes over; NULL with errno kept in `*error`.
void *cblob_list(int32_t directory, int32_t *error);
/// The next name, valid until the next call; NULL at the end, or with errno kept in `*error`, which is 0 otherwise. `.`
/// and `..` are left out.
const char *cblob_list_next(void *list, int32_t *error);
void cblob_list_end(void *list);

// Words shared by processes; 8-byte aligned. Each stands for itself: but for the one that says so, no order between them
// is asked for.

static inline uint64_t cblob_load(const uint64_t *word) {
    return atomic_load_explicit((const _Atomic(uint64_t) *)word, memory_order_relaxed);
}

static inline void cblob_store(uint64_t *word, uint64_t value) {
    atomic_store_explicit((_Atomic(uint64_t) *)word, value, memory_order_relaxed);
}

/// Adds one; the value before.
static inline uint64_t cblob_increment(uint64_t *word) {
    return atomic_fetch_add_explicit((_Atomic(uint64_t) *)word, 1, memory_order_relaxed);
}

/// Adds one, with everything before it before and everything after it after, as others see it.
static inline void cblob_increment_ordered(uint64_t *word) {
    atomic_fetch_add_explicit((_Atomic(uint64_t) *)word, 1, memory_order_seq_cst);
}

/// Makes it at least `least`.
static inline void cblob_raise(uint64_t *word, uint64_t least) {
    uint64_t found = cblob_load(word);
    while (found < least && !atomic_compare_exchange_weak_explicit(
                                (_Atomic(uint64_t) *)word, &found, least, memory_order_relaxed, memory_order_relaxed)) {
    }
}

#endif

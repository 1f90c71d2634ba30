/// Layout 4 of the segment shared by coordinator and workers.
///
///     header (64 bytes) | 2048 buckets | one line per worker slot | progress lines, worker by worker
///
/// Everything is 64-bit lock-free atomics in cache lines of 64 bytes, so a process killed at any instruction leaves nothing
/// locked and nothing half-written. Every process maps it writable: whoever reads a word must be able to live with any
/// value in it. Only the header is plain; it is written before the descriptor is handed out and read once, at attach.
#ifndef CPLATFORM_SHARED_SEGMENT_H
#define CPLATFORM_SHARED_SEGMENT_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define CPLATFORM_SEGMENT_MAGIC 0x314745534c575254ULL  // "TRWLSEG1" in memory order
#define CPLATFORM_SEGMENT_LAYOUT 4
#define CPLATFORM_SEGMENT_BUCKETS 2048
#define CPLATFORM_SEGMENT_MAX_WORKERS 1024
#define CPLATFORM_SEGMENT_MAX_TRANSFERS 4096

_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2, "64-bit atomics must be lock-free across processes");
_Static_assert(sizeof(_Atomic(uint64_t)) == 8, "an atomic word is the bare word");

typedef struct {
    uint64_t magic;                  ///< the header starts the mapping, so it has a cache line without being told
    uint64_t total_size;             ///< bytes, header included
    uint32_t layout;
    uint32_t header_size;
    uint32_t bucket_count;
    uint32_t worker_slots;
    uint32_t transfers_per_worker;
    uint8_t reserved[28];            ///< zero
} cplatform_segment_header;
_Static_assert(sizeof(cplatform_segment_header) == 64, "one cache line; part of segment layout 4");
_Static_assert(offsetof(cplatform_segment_header, total_size) == 8, "part of segment layout 4");
_Static_assert(offsetof(cplatform_segment_header, layout) == 16, "part of segment layout 4");
_Static_assert(offsetof(cplatform_segment_header, header_size) == 20, "part of segment layout 4");
_Static_assert(offsetof(cplatform_segment_header, bucket_count) == 24, "part of segment layout 4");
_Static_assert(offsetof(cplatform_segment_header, worker_slots) == 28, "part of segment layout 4");
_Static_assert(offsetof(cplatform_segment_header, transfers_per_worker) == 32, "part of segment layout 4");

/// Bandwidth shared by all workers: one word, one compare-and-swap, so a killed worker leaves nothing locked.
typedef struct {
    _Alignas(64) _Atomic(uint64_t) debt_until_ns;  ///< CLOCK_MONOTONIC time by which all bytes spent so far are paid for
    _Atomic(uint64_t) ns_per_mib;     ///< cost of 1 MiB; 0 is unlimited
    _Atomic(uint64_t) burst_ns;       ///< credit that idle time may build up
    _Atomic(uint64_t) is_joint;       ///< not 0: what this bucket would be charged goes to the one before it
    uint8_t reserved[32];
} cplatform_bucket;
_Static_assert(sizeof(cplatform_bucket) == 64, "one cache line; part of segment layout 4");

/// One worker slot; written by its worker alone, except `generation`, which the coordinator sets before it starts one.
typedef struct {
    _Alignas(64) _Atomic(uint64_t) heartbeat;      ///< counts up while the worker's loop turns
    _Atomic(uint64_t) file_beats;     ///< counts up while the worker's loop waits for the file of a body
    _Atomic(uint64_t) bytes_in;
    _Atomic(uint64_t) bytes_out;
    _Atomic(uint64_t) generation;     ///< which child is in the slot
    uint8_t reserved[24];
} cplatform_worker_line;
_Static_assert(sizeof(cplatform_worker_line) == 64, "one cache line; part of segment layout 4");

/// One running transfer; written by its worker alone.
typedef struct {
    _Alignas(64) _Atomic(uint64_t) lease;          ///< id of the latest lease, told or not; 0 when the line is free
    _Atomic(uint64_t) phase;          ///< bit 0: request bytes may have been sent; bit 1: it is over; the rest is the writer's
    _Atomic(uint64_t) bytes_received;
    _Atomic(uint64_t) bytes_sent;
    _Atomic(uint64_t) bytes_expected; ///< UINT64_MAX when unknown
    _Atomic(uint64_t) reservation;    ///< bytes of a response that are charged before the first of them came; 0 once it has
    _Atomic(uint64_t) bytes_decoded;  ///< of the body received, as it is delivered: after decoding
    uint8_t reserved[8];
} cplatform_progress_line;
_Static_assert(sizeof(cplatform_progress_line) == 64, "one cache line; part of segment layout 4");

/// Offsets of the words inside their lines, for the accessors below.
enum {
    cplatform_bucket_debt_until = offsetof(cplatform_bucket, debt_until_ns),
    cplatform_bucket_cost = offsetof(cplatform_bucket, ns_per_mib),
    cplatform_bucket_burst = offsetof(cplatform_bucket, burst_ns),
    cplatform_bucket_joint = offsetof(cplatform_bucket, is_joint),

    cplatform_worker_heartbeat = offsetof(cplatform_worker_line, heartbeat),
    cplatform_worker_file_beats = offsetof(cplatform_worker_line, file_beats),
    cplatform_worker_bytes_in = offsetof(cplatform_worker_line, bytes_in),
    cplatform_worker_bytes_out = offsetof(cplatform_worker_line, bytes_out),
    cplatform_worker_generation = offsetof(cplatform_worker_line, generation),

    cplatform_progress_lease = offsetof(cplatform_progress_line, lease),
    cplatform_progress_phase = offsetof(cplatform_progress_line, phase),
    cplatform_progress_received = offsetof(cplatform_progress_line, bytes_received),
    cplatform_progress_sent = offsetof(cplatform_progress_line, bytes_sent),
    cplatform_progress_expected = offsetof(cplatform_progress_line, bytes_expected),
    cplatform_progress_reservation = offsetof(cplatform_progress_line, reservation),
    cplatform_progress_decoded = offsetof(cplatform_progress_line, bytes_decoded),
};

// Accessors of one word. `word` is 8-byte aligned and inside the mapping.

/// For a word that stands alone: counters, heartbeats.
static inline uint64_t cplatform_load_relaxed(const void *word) {
    return atomic_load_explicit((const _Atomic(uint64_t) *)word, memory_order_relaxed);
}

/// For a word that says others are ready: what was stored before its release store is visible after this.
static inline uint64_t cplatform_load_acquire(const void *word) {
    return atomic_load_explicit((const _Atomic(uint64_t) *)word, memory_order_acquire);
}

static inline void cplatform_store_relaxed(void *word, uint64_t value) {
    atomic_store_explicit((_Atomic(uint64_t) *)word, value, memory_order_relaxed);
}

static inline void cplatform_store_release(void *word, uint64_t value) {
    atomic_store_explicit((_Atomic(uint64_t) *)word, value, memory_order_release);
}

/// Returns the value before; wraps around.
static inline uint64_t cplatform_add_relaxed(void *word, uint64_t value) {
    return atomic_fetch_add_explicit((_Atomic(uint64_t) *)word, value, memory_order_relaxed);
}

/// Returns the value before; a full barrier when a bit must be seen before anything done later.
static inline uint64_t cplatform_or_ordered(void *word, uint64_t bits) {
    return atomic_fetch_or_explicit((_Atomic(uint64_t) *)word, bits, memory_order_seq_cst);
}

/// One try; `*expected` becomes the present value when it fails. Relaxed: the word carries its whole meaning.
static inline int32_t cplatform_exchange_relaxed(void *word, uint64_t *expected, uint64_t desired) {
    return atomic_compare_exchange_weak_explicit(
        (_Atomic(uint64_t) *)word, expected, desired, memory_order_relaxed, memory_order_relaxed);
}

#endif

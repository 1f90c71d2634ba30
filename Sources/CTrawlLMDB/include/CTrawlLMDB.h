/// LMDB, and what Swift cannot say around it: macros, lock ranges, words shared by threads, a way out of its assertions.
///
/// Functions of ours return `-errno` or LMDB's code.
#ifndef CLMDB_H
#define CLMDB_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <lmdb.h>

enum {
    /// LMDB found its own pages to contradict themselves, and would have ended the process.
    clmdb_asserted = -30700,
};

/// Makes a failed assertion inside the calls below come back as `clmdb_asserted`.
///
/// Afterwards the transaction must not be touched again by anybody.
void clmdb_catch_assertions(MDB_env *env);

// LMDB's calls that walk pages, with assertions caught.
int32_t clmdb_dbi_open(MDB_txn *txn, const char *name, uint32_t flags, MDB_dbi *table);
int32_t clmdb_get(MDB_txn *txn, MDB_dbi table, MDB_val *key, MDB_val *value);
int32_t clmdb_put(MDB_txn *txn, MDB_dbi table, MDB_val *key, MDB_val *value, uint32_t flags);
int32_t clmdb_delete(MDB_txn *txn, MDB_dbi table, MDB_val *key);
int32_t clmdb_drop(MDB_txn *txn, MDB_dbi table);
int32_t clmdb_stat(MDB_txn *txn, MDB_dbi table, MDB_stat *found);
int32_t clmdb_cursor_open(MDB_txn *txn, MDB_dbi table, MDB_cursor **cursor);
int32_t clmdb_cursor_get(MDB_cursor *cursor, MDB_val *key, MDB_val *value, MDB_cursor_op operation);
int32_t clmdb_commit(MDB_txn *txn);

/// fcntl(F_OFD_SETLK or F_OFD_SETLKW) of one byte: `kind` 0 gives it up, 1 shares it, 2 has it alone.
///
/// Such a lock belongs to the open file, not to the process, and goes with its last descriptor.
int32_t clmdb_lock_byte(int32_t fd, int64_t byte, int32_t kind, int32_t wait);

/// A word that is 1 here and 0 in a child made by fork (MADV_WIPEONFORK); NULL where the kernel has no such thing.
const void *clmdb_fork_mark(void);

// Whose turn it is to write: a mutex in memory that processes share, which goes to the next when its owner dies.

/// Bytes of it.
size_t clmdb_turn_size(void);
/// Makes a new one at an address of 64-byte alignment.
int32_t clmdb_turn_make(void *turn);
/// Takes it within so many nanoseconds: 0, -ETIMEDOUT, or another error when it is none.
int32_t clmdb_turn_take(void *turn, int64_t nanoseconds);
/// Gives it to the next. By the thread that took it.
int32_t clmdb_turn_give(void *turn);

/// Bytes of LMDB 0.9's `lock.mdb` with places for so many readers, on 64-bit systems; with none, its locks alone.
size_t clmdb_lock_file_size(size_t readers);
/// Whether a living thread has LMDB's writer lock, by the first page of `lock.mdb`.
int32_t clmdb_writer_lock_is_held(const void *page);
/// Gives up LMDB's writer lock when the calling thread has it: after an assertion nothing else can. -EPERM when it has not.
int32_t clmdb_writer_lock_give_up(void *page);

// Words shared by threads; 8-byte aligned.

static inline uint64_t clmdb_load_relaxed(const void *word) {
    return atomic_load_explicit((const _Atomic(uint64_t) *)word, memory_order_relaxed);
}

static inline uint64_t clmdb_load_acquire(const void *word) {
    return atomic_load_explicit((const _Atomic(uint64_t) *)word, memory_order_acquire);
}

/// What was loaded before it was loaded before all that is loaded after it.
static inline void clmdb_fence_acquire(void) {
    atomic_thread_fence(memory_order_acquire);
}

static inline void clmdb_store_release(void *word, uint64_t value) {
    atomic_store_explicit((_Atomic(uint64_t) *)word, value, memory_order_release);
}

/// Sequentially consistent, for words of which two threads each write one and read the other.
static inline uint64_t clmdb_load_ordered(const void *word) {
    return atomic_load_explicit((const _Atomic(uint64_t) *)word, memory_order_seq_cst);
}

static inline void clmdb_store_ordered(void *word, uint64_t value) {
    atomic_store_explicit((_Atomic(uint64_t) *)word, value, memory_order_seq_cst);
}

/// Sequentially consistent; 1 when `word` was `expected` and is now `desired`.
static inline int32_t clmdb_exchange(void *word, uint64_t expected, uint64_t desired) {
    return atomic_compare_exchange_strong_explicit(
        (_Atomic(uint64_t) *)word, &expected, desired, memory_order_seq_cst, memory_order_relaxed);
}

#endif

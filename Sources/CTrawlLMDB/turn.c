#define _GNU_SOURCE
#include "CTrawlLMDB.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <time.h>

size_t clmdb_turn_size(void) {
    return sizeof(pthread_mutex_t);
}

int32_t clmdb_turn_make(void *turn) {
    pthread_mutexattr_t attributes;
    int code = pthread_mutexattr_init(&attributes);
    if (code != 0) {
        return -code;
    }
    code = pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    if (code == 0) {
        code = pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    }
    if (code == 0) {
        code = pthread_mutex_init(turn, &attributes);
    }
    pthread_mutexattr_destroy(&attributes);
    return -code;
}

int32_t clmdb_turn_take(void *turn, int64_t nanoseconds) {
    int code = pthread_mutex_trylock(turn);
    if (code == EBUSY && nanoseconds > 0) {
        struct timespec end;
        clock_gettime(CLOCK_MONOTONIC, &end);
        int64_t sum = end.tv_nsec + nanoseconds % 1000000000;
        end.tv_sec += nanoseconds / 1000000000 + sum / 1000000000;
        end.tv_nsec = sum % 1000000000;
        code = pthread_mutex_clocklock(turn, CLOCK_MONOTONIC, &end);
    }
    if (code == EOWNERDEAD) {
        // It protects nothing but LMDB's own lock, which looks after itself.
        code = pthread_mutex_consistent(turn);
    }
    return code == EBUSY ? -ETIMEDOUT : -code;
}

int32_t clmdb_turn_give(void *turn) {
    return -pthread_mutex_unlock(turn);
}

// `lock.mdb` of LMDB 0.9 has 24 bytes and the readers' lock, then the writer's, then each reader's place, in lines of
// 64 bytes (mdb.c, MDB_txninfo). How many lines come first differs: a mutex has 40 bytes on x86-64, and 48 on AArch64.
#define IN_LINES(bytes) (((bytes) + 63) / 64 * 64)

enum {
    writer_lock_offset = IN_LINES(24 + sizeof(pthread_mutex_t)),
    readers_offset = writer_lock_offset + IN_LINES(sizeof(pthread_mutex_t)),
};

size_t clmdb_lock_file_size(size_t readers) {
    return readers_offset + readers * 64;
}

// LMDB's lock is a robust mutex of glibc: its first word is a futex with the owner's number.

int32_t clmdb_writer_lock_is_held(const void *page) {
    const char *lock = (const char *)page + writer_lock_offset;
    unsigned word = atomic_load_explicit((const _Atomic(unsigned) *)lock, memory_order_relaxed);
    return (word & FUTEX_TID_MASK) != 0 && (word & FUTEX_OWNER_DIED) == 0;
}

int32_t clmdb_writer_lock_give_up(void *page) {
    return -pthread_mutex_unlock((pthread_mutex_t *)((char *)page + writer_lock_offset));
}

#define _GNU_SOURCE
#include "CTrawlLMDB.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <string.h>
#include <sys/mman.h>

// Where this thread's call into LMDB goes on when an assertion fails. Set only while such a call runs.
static _Thread_local jmp_buf *way_out;

static void leave(MDB_env *env, const char *message) {
    (void)env;
    (void)message;
    if (way_out) {
        longjmp(*way_out, 1);
    }
}

void clmdb_catch_assertions(MDB_env *env) {
    mdb_env_set_assert(env, leave);
}

// Only C frames of LMDB lie between `setjmp` and `longjmp`.
#define CAUGHT(call)               \
    jmp_buf here;                  \
    jmp_buf *outer = way_out;      \
    if (_setjmp(here) != 0) {      \
        way_out = NULL;            \
        return clmdb_asserted;     \
    }                              \
    way_out = &here;               \
    int result = (call);           \
    way_out = outer;               \
    return result

int32_t clmdb_dbi_open(MDB_txn *txn, const char *name, uint32_t flags, MDB_dbi *table) {
    CAUGHT(mdb_dbi_open(txn, name, flags, table));
}

int32_t clmdb_get(MDB_txn *txn, MDB_dbi table, MDB_val *key, MDB_val *value) {
    CAUGHT(mdb_get(txn, table, key, value));
}

int32_t clmdb_put(MDB_txn *txn, MDB_dbi table, MDB_val *key, MDB_val *value, uint32_t flags) {
    CAUGHT(mdb_put(txn, table, key, value, flags));
}

int32_t clmdb_delete(MDB_txn *txn, MDB_dbi table, MDB_val *key) {
    CAUGHT(mdb_del(txn, table, key, NULL));
}

int32_t clmdb_drop(MDB_txn *txn, MDB_dbi table) {
    CAUGHT(mdb_drop(txn, table, 0));
}

int32_t clmdb_stat(MDB_txn *txn, MDB_dbi table, MDB_stat *found) {
    CAUGHT(mdb_stat(txn, table, found));
}

int32_t clmdb_cursor_open(MDB_txn *txn, MDB_dbi table, MDB_cursor **cursor) {
    CAUGHT(mdb_cursor_open(txn, table, cursor));
}

int32_t clmdb_cursor_get(MDB_cursor *cursor, MDB_val *key, MDB_val *value, MDB_cursor_op operation) {
    CAUGHT(mdb_cursor_get(cursor, key, value, operation));
}

int32_t clmdb_commit(MDB_txn *txn) {
    CAUGHT(mdb_txn_commit(txn));
}

int32_t clmdb_lock_byte(int32_t fd, int64_t byte, int32_t kind, int32_t wait) {
    struct flock range;
    memset(&range, 0, sizeof range);
    range.l_type = kind == 0 ? F_UNLCK : kind == 1 ? F_RDLCK : F_WRLCK;
    range.l_whence = SEEK_SET;
    range.l_start = byte;
    range.l_len = 1;
    return fcntl(fd, wait ? F_OFD_SETLKW : F_OFD_SETLK, &range) == 0 ? 0 : -errno;
}

const void *clmdb_fork_mark(void) {
    uint64_t *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) {
        return NULL;
    }
    if (madvise(page, 4096, MADV_WIPEONFORK) != 0) {
        munmap(page, 4096);
        return NULL;
    }
    *page = 1;
    return page;
}

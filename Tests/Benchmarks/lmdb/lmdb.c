/* What LMDB alone costs beneath a cache: reads of records of 4 KiB and a head, by random keys.
 *
 *   lmdb DIRECTORY ENTRIES READS THREADS
 *
 * Fills DIRECTORY when it is empty, 64 records a transaction, without a sync. Then all threads together make READS reads,
 * each in a read transaction renewed for it, and copy the record out; and once more, with all pages mapped. Prints one
 * JSON line of CPU microseconds. */
#define _GNU_SOURCE
#include <lmdb.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { HEAD = 400, BODY = 4096 };

static MDB_env *environment;
static MDB_dbi table;
static uint64_t entries, reads_of_each;

static void check(int result, const char *call) {
    if (result != 0) {
        fprintf(stderr, "%s: %s\n", call, mdb_strerror(result));
        exit(1);
    }
}

/* A digest of a number, so that keys lie as far apart as those of URLs. */
static void make_key(uint64_t number, uint64_t key[2]) {
    for (int i = 0; i < 2; i++) {
        uint64_t mixed = number + 0x9e3779b97f4a7c15u * (uint64_t)(i + 1);
        mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
        mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
        key[i] = mixed ^ (mixed >> 31);
    }
}

static double now(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void fill(void) {
    static char record[HEAD + BODY];
    for (uint64_t next = 0; next < entries;) {
        MDB_txn *transaction;
        check(mdb_txn_begin(environment, NULL, 0, &transaction), "mdb_txn_begin");
        for (int i = 0; i < 64 && next < entries; i++, next++) {
            uint64_t bytes[2];
            make_key(next, bytes);
            memcpy(record, bytes, sizeof bytes);
            MDB_val key = {sizeof bytes, bytes}, value = {sizeof record, record};
            check(mdb_put(transaction, table, &key, &value, 0), "mdb_put");
        }
        check(mdb_txn_commit(transaction), "mdb_txn_commit");
    }
}

static void *read_share(void *context) {
    char copy[HEAD + BODY];
    uint64_t random = (uint64_t)(uintptr_t)context * 0x2545f4914f6cdd1du + 1, wrong = 0;
    MDB_txn *transaction;
    check(mdb_txn_begin(environment, NULL, MDB_RDONLY, &transaction), "mdb_txn_begin");
    mdb_txn_reset(transaction);
    for (uint64_t i = 0; i < reads_of_each; i++) {
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        uint64_t bytes[2];
        make_key(random % entries, bytes);
        MDB_val key = {sizeof bytes, bytes}, value;
        check(mdb_txn_renew(transaction), "mdb_txn_renew");
        check(mdb_get(transaction, table, &key, &value), "mdb_get");
        memcpy(copy, value.mv_data, value.mv_size);
        mdb_txn_reset(transaction);
        wrong += memcmp(copy, bytes, sizeof bytes) != 0;
    }
    mdb_txn_abort(transaction);
    return (void *)(uintptr_t)wrong;
}

static double read_all(int count) {
    pthread_t threads[256];
    double before = now(CLOCK_PROCESS_CPUTIME_ID);
    for (int i = 0; i < count; i++) {
        check(pthread_create(&threads[i], NULL, read_share, (void *)(uintptr_t)(i + 1)), "pthread_create");
    }
    for (int i = 0; i < count; i++) {
        void *wrong;
        pthread_join(threads[i], &wrong);
        if (wrong != NULL) {
            fprintf(stderr, "records of other keys\n");
            exit(1);
        }
    }
    return (now(CLOCK_PROCESS_CPUTIME_ID) - before) / ((double)reads_of_each * count) * 1e6;
}

int main(int argc, char **argv) {
    if (argc != 5) {
        return 2;
    }
    int threads = atoi(argv[4]);
    if (threads < 1 || threads > 256) {
        return 2;
    }
    entries = strtoull(argv[2], NULL, 10);
    reads_of_each = strtoull(argv[3], NULL, 10) / (uint64_t)threads;
    MDB_txn *transaction;
    MDB_stat status;
    check(mdb_env_create(&environment), "mdb_env_create");
    check(mdb_env_set_mapsize(environment, (size_t)64 << 30), "mdb_env_set_mapsize");
    check(mdb_env_set_maxreaders(environment, 300), "mdb_env_set_maxreaders");
    check(mdb_env_open(environment, argv[1], MDB_NOSYNC | MDB_NOTLS, 0600), "mdb_env_open");
    check(mdb_txn_begin(environment, NULL, 0, &transaction), "mdb_txn_begin");
    check(mdb_dbi_open(transaction, NULL, 0, &table), "mdb_dbi_open");
    check(mdb_stat(transaction, table, &status), "mdb_stat");
    check(mdb_txn_commit(transaction), "mdb_txn_commit");
    double filling = 0;
    if (status.ms_entries == 0) {
        double before = now(CLOCK_PROCESS_CPUTIME_ID);
        fill();
        filling = (now(CLOCK_PROCESS_CPUTIME_ID) - before) / (double)entries * 1e6;
    }
    double first = read_all(threads), start = now(CLOCK_MONOTONIC), again = read_all(threads);
    double wall = now(CLOCK_MONOTONIC) - start;
    printf("{\"filling\":%f,\"first\":%f,\"again\":%f,\"perSecond\":%f}\n", filling, first, again,
           (double)reads_of_each * threads / wall);
    mdb_env_close(environment);
    return 0;
}

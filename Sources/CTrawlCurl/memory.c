#define _GNU_SOURCE
#include "CTrawlCurl.h"

#include "library.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

/* Memory for libcurl: blocks that are freed are kept, for the next request to take
 * (docs/decisions/0031-libcurls-blocks-are-kept.md).
 *
 * Every block is malloc's own, without a head of ours, and malloc_usable_size(3) tells its length. So whoever frees a
 * block, by whichever function and on whichever thread, does no harm, wherever it came from.
 *
 * Sizes: blocks are asked for in sizes that malloc gives without a rest: 24 bytes and each 16 more up to 1,048, then
 * four sizes between each power of two and the next, plus 24, up to 512 KiB and 24 bytes: the longest receive buffer
 * (TransferLoop.receiveBuffer) fits. There is a list for each size; the block that was added last is taken first. A
 * block goes to the list of the largest size that fits in it, for it may have come from elsewhere, and malloc gives 16
 * bytes more where the rest of a chunk would be too short for another. What is longer is malloc's alone.
 *
 * Owner: lists belong to the thread that asked for them, and no other thread sees them. On all others, as on those that
 * libcurl starts for names, these functions are malloc, calloc, realloc and free.
 *
 * Most kept: 8 MiB in a thread's lists. A block that would be beyond takes all others along, so that sizes that are not
 * used any more do not stay. One of more than 64 KiB goes alone: receive buffers of HTTP/2, and those of a length that
 * was asked for, can be more than 8 MiB together, and each that is freed would empty the lists of the short ones, which
 * are what the lists are for.
 *
 * Checkers: AddressSanitizer, its kin and valgrind have to see each block freed. They are known by giving a block of
 * one byte as that and no more, which malloc never does; then no thread gets lists. */

enum {
    SMALLEST = 24,
    SMALL_STEP = 16,
    SMALL_SIZES = 65,
    LARGEST_SMALL = SMALLEST + SMALL_STEP * (SMALL_SIZES - 1),
    /* From 2^10 to 2^19, in quarters. */
    LARGE_SIZES = 4 * 9,
    SIZES = SMALL_SIZES + LARGE_SIZES,
    MOST_KEPT = 8 << 20,
    LONGEST_TO_EMPTY = 64 << 10,
};

/* A block in a list; the rest of it is what it was. */
struct kept {
    struct kept *next;
};

struct lists {
    size_t bytes;
    struct kept *first[SIZES];
};

static _Thread_local struct lists *lists;

/* The place of the smallest size that holds so many bytes; SIZES or more when none does. */
static inline size_t place_for(size_t bytes) {
    if (bytes <= SMALLEST) {
        return 0;
    }
    if (bytes <= LARGEST_SMALL) {
        return (bytes - SMALLEST + SMALL_STEP - 1) / SMALL_STEP;
    }
    size_t last = bytes - SMALLEST - 1;
    size_t power = 63 - (size_t)__builtin_clzl(last);
    return SMALL_SIZES + 4 * (power - 10) + ((last >> (power - 2)) & 3);
}

static inline size_t size_at(size_t place) {
    if (place < SMALL_SIZES) {
        return SMALLEST + SMALL_STEP * place;
    }
    size_t step = place - SMALL_SIZES;
    return SMALLEST + ((5 + step % 4) << (8 + step / 4));
}

static void empty(struct lists *full) {
    for (size_t place = 0; place < SIZES; place += 1) {
        while (full->first[place] != NULL) {
            struct kept *block = full->first[place];
            full->first[place] = block->next;
            free(block);
        }
    }
    full->bytes = 0;
}

int32_t ccurl_memory_keep(void) {
    if (lists != NULL) {
        return 1;
    }
    void *probe = malloc(1);
    int is_checked = probe == NULL || malloc_usable_size(probe) < SMALLEST;
    free(probe);
    if (is_checked) {
        return 0;
    }
    lists = calloc(1, sizeof *lists);
    return lists != NULL;
}

void ccurl_memory_release(void) {
    if (lists != NULL) {
        empty(lists);
        free(lists);
        lists = NULL;
    }
}

size_t ccurl_memory_kept(void) {
    return lists != NULL ? lists->bytes : 0;
}

void *ccurl_memory_malloc(size_t bytes) {
    size_t place;
    if (lists == NULL || (place = place_for(bytes)) >= SIZES) {
        return malloc(bytes);
    }
    struct kept *block = lists->first[place];
    if (block == NULL) {
        return malloc(size_at(place));
    }
    lists->first[place] = block->next;
    lists->bytes -= size_at(place);
    return block;
}

void *ccurl_memory_calloc(size_t count, size_t size) {
    size_t bytes;
    if (lists == NULL || __builtin_mul_overflow(count, size, &bytes) || place_for(bytes) >= SIZES) {
        return calloc(count, size);
    }
    void *block = ccurl_memory_malloc(bytes);
    return block != NULL ? memset(block, 0, bytes) : NULL;
}

void *ccurl_memory_realloc(void *block, size_t bytes) {
    if (block == NULL) {
        return ccurl_memory_malloc(bytes);
    }
    if (lists == NULL || place_for(bytes) >= SIZES) {
        return realloc(block, bytes);
    }
    size_t old = malloc_usable_size(block);
    if (bytes <= old) {
        return block;
    }
    void *longer = ccurl_memory_malloc(bytes);
    if (longer != NULL) {
        memcpy(longer, block, old);
        ccurl_memory_free(block);
    }
    return longer;
}

char *ccurl_memory_strdup(const char *text) {
    size_t bytes = strlen(text) + 1;
    char *copy = ccurl_memory_malloc(bytes);
    return copy != NULL ? memcpy(copy, text, bytes) : NULL;
}

void ccurl_memory_free(void *block) {
    if (lists == NULL || block == NULL) {
        free(block);
        return;
    }
    /* The place before the first size that holds one byte more; of less than the smallest it wraps. */
    size_t place = place_for(malloc_usable_size(block) + 1) - 1;
    if (place >= SIZES) {
        free(block);
        return;
    }
    size_t size = size_at(place);
    if (lists->bytes + size > MOST_KEPT) {
        if (size <= LONGEST_TO_EMPTY) {
            empty(lists);
        }
        free(block);
        return;
    }
    struct kept *kept = block;
    kept->next = lists->first[place];
    lists->first[place] = kept;
    lists->bytes += size;
}

CURLcode ccurl_global_init_keeping_memory(long flags) {
    if (ccurl_load() != 0) {
        return CURLE_FAILED_INIT;
    }
    return ccurl_library.global_init_mem(
        flags, ccurl_memory_malloc, ccurl_memory_free, ccurl_memory_realloc, ccurl_memory_strdup, ccurl_memory_calloc);
}

#include "CTrawlBrotli.h"

#include <malloc.h>
#include <stdlib.h>

/// What is had in any case: a window of 1 MiB and what the library puts behind it.
enum { SHORT = (1 << 20) + (4 << 10) };

static void *allocate(void *opaque, size_t size) {
    cbrotli_memory *memory = opaque;
    if (size > SHORT && (memory->used > memory->most || size > memory->most - memory->used)) {
        memory->is_refused = 1;
        return NULL;
    }
    void *block = malloc(size);
    if (block != NULL) memory->used += malloc_usable_size(block);
    return block;
}

static void release(void *opaque, void *block) {
    cbrotli_memory *memory = opaque;
    if (block == NULL) return;
    memory->used -= malloc_usable_size(block);
    free(block);
}

BrotliDecoderState *cbrotli_decoder_create(cbrotli_memory *memory) {
    return BrotliDecoderCreateInstance(allocate, release, memory);
}

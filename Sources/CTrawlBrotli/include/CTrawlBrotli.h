/// The decoder of brotli for Swift: its own header, and a way to make one with bounds.

#ifndef CBROTLI_H
#define CBROTLI_H

#include <brotli/decode.h>
#include <stddef.h>

/// What some decoders have of the C heap, all of one thread.
typedef struct {
    size_t used;     ///< bytes of their blocks
    size_t most;     ///< what a block of more than about 1 MiB must not take `used` beyond
    int is_refused;  ///< whether a block was refused for that; cleared by whoever reads it
} cbrotli_memory;

/// A decoder on the C heap with windows of at most 16 MiB (RFC 7932 §9.1), or null when memory ran out.
/// The "large window" extension, which is not part of the content coding, stays off.
///
/// @param memory Outlives the decoder.
BrotliDecoderState *cbrotli_decoder_create(cbrotli_memory *memory);

#endif

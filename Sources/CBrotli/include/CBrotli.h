/// The decoder of brotli for Swift: its own header, and a way to make one with bounds.

#ifndef CBROTLI_H
#define CBROTLI_H

#include <brotli/decode.h>

/// A decoder on the C heap with windows of at most 16 MiB (RFC 7932 §9.1), or null when memory ran out.
/// The "large window" extension, which is not part of the content coding, stays off.
BrotliDecoderState *cbrotli_decoder_create(void);

#endif

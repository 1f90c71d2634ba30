#include "CBrotli.h"

#include <stddef.h>

BrotliDecoderState *cbrotli_decoder_create(void) {
    return BrotliDecoderCreateInstance(NULL, NULL, NULL);
}

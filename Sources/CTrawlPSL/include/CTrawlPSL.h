/// Public suffixes by libpsl, which is loaded at the first use, so that nothing is linked and no header of it is
/// needed.

#ifndef CPSL_H
#define CPSL_H

#include <stdint.h>

/// Whether a domain is a public suffix by the list that is built into libpsl, which is loaded at the first call: 1, 0, or
/// -1 when the library is not there. Names that no rule of the list holds are public suffixes when they have no dot.
/// `domain` is in lower case and ends with a zero byte. Any thread.
int32_t cpsl_is_public_suffix(const char *domain);

#endif

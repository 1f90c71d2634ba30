/// zlib for Swift: its own header, and what is a macro there.

#ifndef CZLIB_H
#define CZLIB_H

#include <zlib.h>

/// `inflateInit2`, a macro that carries the header's version and the size of `z_stream`.
/// The caller has zeroed `stream` and keeps it at one address until `inflateEnd`.
int czlib_inflate_init(z_stream *stream, int window_bits);

#endif

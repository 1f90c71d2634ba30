/// libcurl for Swift: its own header, and plain functions for what is variadic there.
///
/// The setters return libcurl's code. Functions on sockets return a value of zero or more, or `-errno`.
#ifndef CCURL_H
#define CCURL_H

#include <curl/curl.h>
#include <stddef.h>
#include <stdint.h>

/// Loads libcurl, once; every function that makes a handle does so by itself. 0, or -1 when there is no libcurl with
/// OpenSSL on this system.
int32_t ccurl_load(void);
/// Why ccurl_load gave -1, in the dynamic loader's words. For after it.
const char *ccurl_load_problem(void);

// curl_easy_setopt.

CURLcode ccurl_set_long(CURL *easy, CURLoption option, long value);
CURLcode ccurl_set_offset(CURL *easy, CURLoption option, int64_t value);
CURLcode ccurl_set_string(CURL *easy, CURLoption option, const char *value);
CURLcode ccurl_set_pointer(CURL *easy, CURLoption option, void *value);
/// A blob option; libcurl takes a copy. NULL takes what was set away.
CURLcode ccurl_set_blob(CURL *easy, CURLoption option, const void *bytes, size_t length);

typedef size_t (*ccurl_data_callback)(char *bytes, size_t size, size_t count, void *context);
typedef int (*ccurl_seek_callback)(void *context, curl_off_t offset, int origin);
typedef int (*ccurl_prerequest_callback)(
    void *context, char *remote_ip, char *local_ip, int remote_port, int local_port);
typedef curl_socket_t (*ccurl_open_callback)(void *context, curlsocktype purpose, struct curl_sockaddr *address);
typedef int (*ccurl_close_callback)(void *context, curl_socket_t socket);
typedef CURLcode (*ccurl_tls_callback)(CURL *easy, void *tls, void *context);

/// Each sets a callback together with its context.
CURLcode ccurl_set_write(CURL *easy, ccurl_data_callback callback, void *context);
CURLcode ccurl_set_header(CURL *easy, ccurl_data_callback callback, void *context);
CURLcode ccurl_set_read(CURL *easy, ccurl_data_callback callback, void *context);
CURLcode ccurl_set_seek(CURL *easy, ccurl_seek_callback callback, void *context);
CURLcode ccurl_set_prerequest(CURL *easy, ccurl_prerequest_callback callback, void *context);
CURLcode ccurl_set_open_socket(CURL *easy, ccurl_open_callback callback, void *context);
/// Called with the SSL_CTX of each TLS layer of a connection, that of an `https` proxy too, when it is set up and before
/// its handshake; NULL is never.
CURLcode ccurl_set_tls(CURL *easy, ccurl_tls_callback callback, void *context);
CURLcode ccurl_set_close_socket(CURL *easy, ccurl_close_callback callback, void *context);

// curl_easy_getinfo.

CURLcode ccurl_get_long(CURL *easy, CURLINFO info, long *value);
CURLcode ccurl_get_offset(CURL *easy, CURLINFO info, int64_t *value);
CURLcode ccurl_get_pointer(CURL *easy, CURLINFO info, void **value);
/// The string belongs to the handle.
CURLcode ccurl_get_string(CURL *easy, CURLINFO info, const char **value);

// curl_multi_setopt.

CURLMcode ccurl_multi_set_long(CURLM *multi, CURLMoption option, long value);

// curl_url_get.

/// CURLUPART_HOST with CURLU_PUNYCODE, the host read as UTF-8 whatever the locale of the process is.
CURLUcode ccurl_url_ascii_host(CURLU *url, char **host);

// The connection of a running transfer.

/// Decrypted or undecrypted bytes that OpenSSL holds for it; -1 when it has no TLS.
int32_t ccurl_tls_pending(CURL *easy);
/// Whether TLS agreed on HTTP/2: 1, else 0.
int32_t ccurl_tls_is_http2(CURL *easy);

/// Whether libcurl checks the certificates that an SSL_CTX is shown, as it was set up: 1 or 0.
int32_t ccurl_tls_is_checked(void *tls);
/// Has an SSL_CTX trust the certificates of a file, a directory, and memory, all in PEM form; NULL is none. libcurl leaves
/// that out when it does not check the certificate itself. Returns 0, or -1 when one of them cannot be used.
int32_t ccurl_tls_trust(void *tls, const char *file, const char *directory, const void *bytes, size_t length);
/// SSL_get_verify_result: 0 is X509_V_OK; -1 when it has no TLS.
int64_t ccurl_tls_verify_result(CURL *easy);
/// Whether the peer's certificate is for that host name or address (without brackets): 1 or 0.
int32_t ccurl_tls_names_host(CURL *easy, const char *host);
/// The DER form of the peer's certificate of that place in its chain, 0 the server's own: its length, and the bytes when
/// there is room for them; -1 when there is none.
int32_t ccurl_tls_certificate(CURL *easy, int32_t place, uint8_t *bytes, size_t room);

// A handle between two transfers.

/// Has a handle that is in no transfer forget the last field line it was sent, as libcurl before 8.2 does not. Returns 1,
/// or 0 when it cannot: another transfer with it may read and write freed memory.
int32_t ccurl_forget_line(CURL *easy);

// The process.

/// prctl(PR_SET_NO_NEW_PRIVS).
int32_t ccurl_no_new_privileges(void);
/// prctl(PR_SET_PDEATHSIG): the signal comes when the thread ends that started this process.
int32_t ccurl_signal_at_parents_end(int32_t signal);
/// mallopt: allocations below 1 MiB come from the heap, and its top is kept up to `bytes`. 0 when refused.
int32_t ccurl_keep_freed_memory(int32_t bytes);

// Memory for libcurl that is kept when it is freed; see memory.c.

/// curl_global_init_mem with the functions below. Where libcurl is set up already, it stays with those it has.
CURLcode ccurl_global_init_keeping_memory(long flags);
/// Has the calling thread keep what it frees. 1, or 0 when it does not: memory is being checked, or there is none.
int32_t ccurl_memory_keep(void);
/// Gives all that the calling thread keeps back, and has it keep no more.
void ccurl_memory_release(void);
/// Bytes that the calling thread keeps now.
size_t ccurl_memory_kept(void);

void *ccurl_memory_malloc(size_t bytes);
void *ccurl_memory_calloc(size_t count, size_t size);
void *ccurl_memory_realloc(void *block, size_t bytes);
char *ccurl_memory_strdup(const char *text);
void ccurl_memory_free(void *block);

// Sockets.

/// socket(2) for that address, close-on-exec from birth.
int32_t ccurl_socket_open(const struct curl_sockaddr *address);
/// What went over a connection (tcp(7), TCP_INFO; SO_MEMINFO): bytes without heads, of which those sent again count as
/// often, segments, and those of them that were not taken.
struct ccurl_traffic {
    int64_t received;
    int64_t sent;
    uint32_t segments_in;
    uint32_t segments_out;
    uint32_t data_segments_in;
    uint32_t segment_length;
    uint32_t drops;
    /// Bytes that came and were not read.
    int32_t unread;
};

/// Returns 0 or -errno; -ENOSYS when the kernel does not say.
int32_t ccurl_socket_traffic(int32_t fd, struct ccurl_traffic *traffic);
/// Bounds what the kernel takes before it is read (socket(7), SO_RCVBUF), and the length of segments (tcp(7), TCP_MAXSEG).
/// Returns 0 or -errno.
int32_t ccurl_socket_limit(int32_t fd, int32_t buffer, int32_t segment);
/// Sets SO_RCVBUF again after the handshake, since when the kernel may have let it grow. Returns 0 or -errno.
int32_t ccurl_socket_fix(int32_t fd, int32_t buffer);
/// Raises SO_RCVBUF of a connection that stands, and what it offers the peer at most (TCP_WINDOW_CLAMP). Returns 0 or -errno.
int32_t ccurl_socket_widen(int32_t fd, int32_t buffer);
/// Microseconds until what was sent is acknowledged, as TCP has measured it (TCP_INFO); at first by its handshake.
int32_t ccurl_socket_round_trip(int32_t fd);
int32_t ccurl_socket_close(int32_t fd);
/// What tells the socket behind a number from all others there have been (fstat(2), the inode); 0 when there is none.
uint64_t ccurl_socket_inode(int32_t fd);
/// shutdown(2) in both directions.
int32_t ccurl_socket_shutdown(int32_t fd);
/// recv(2) of one byte, MSG_PEEK and MSG_DONTWAIT: 1 when one is there, 0 at the end of the stream.
int32_t ccurl_socket_peek(int32_t fd);

/// The ends of a connection: addresses as inet_ntop(3) writes them, and ports.
struct ccurl_ends {
    char local[46];
    char remote[46];
    int32_t local_port;
    int32_t remote_port;
};

/// getsockname(2) and getpeername(2). Returns 0 or -errno: -ENOTCONN before it is connected, -EAFNOSUPPORT for what is no Internet
/// socket.
int32_t ccurl_socket_ends(int32_t fd, struct ccurl_ends *ends);
/// Bytes that TCP received in all, unread ones included (TCP_INFO).
int64_t ccurl_socket_bytes_received(int32_t fd);

#endif

#define _GNU_SOURCE
#define CURL_DISABLE_TYPECHECK
#include "CCurl.h"

#include "library.h"

#include <errno.h>
#include <linux/tcp.h>
#include <malloc.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

static void *tls_of(CURL *easy) {
    struct curl_tlssessioninfo *session = NULL;
    if (ccurl_library.easy_getinfo(easy, CURLINFO_TLS_SSL_PTR, &session) != CURLE_OK || session == NULL) {
        return NULL;
    }
    return session->backend == CURLSSLBACKEND_OPENSSL ? session->internals : NULL;
}

int32_t ccurl_tls_pending(CURL *easy) {
    void *tls = tls_of(easy);
    return tls == NULL ? -1 : ccurl_library.ssl_has_pending(tls);
}

int32_t ccurl_tls_is_http2(CURL *easy) {
    void *tls = tls_of(easy);
    if (tls == NULL) {
        return 0;
    }
    const unsigned char *name = NULL;
    unsigned int length = 0;
    ccurl_library.ssl_get0_alpn_selected(tls, &name, &length);
    return length == 2 && memcmp(name, "h2", 2) == 0;
}

int32_t ccurl_socket_open(const struct curl_sockaddr *address) {
    int fd = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
    return fd >= 0 ? fd : -errno;
}

int32_t ccurl_socket_limit(int32_t fd, int32_t buffer, int32_t segment) {
    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof buffer) != 0 ||
        setsockopt(fd, IPPROTO_TCP, TCP_MAXSEG, &segment, sizeof segment) != 0) {
        return -errno;
    }
    return 0;
}

int32_t ccurl_socket_close(int32_t fd) {
    return close(fd) == 0 ? 0 : -errno;
}

int32_t ccurl_socket_shutdown(int32_t fd) {
    return shutdown(fd, SHUT_RDWR) == 0 ? 0 : -errno;
}

int32_t ccurl_socket_peek(int32_t fd) {
    char byte;
    ssize_t count = recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return count >= 0 ? (int32_t)count : -errno;
}

int32_t ccurl_socket_local_port(int32_t fd) {
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } address;
    socklen_t length = sizeof address;
    if (getsockname(fd, &address.any, &length) != 0) {
        return -errno;
    }
    switch (address.any.sa_family) {
    case AF_INET: return ntohs(address.v4.sin_port);
    case AF_INET6: return ntohs(address.v6.sin6_port);
    default: return 0;
    }
}

int64_t ccurl_socket_bytes_received(int32_t fd) {
    struct tcp_info info;
    socklen_t length = sizeof info;
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) {
        return -errno;
    }
    if (length < offsetof(struct tcp_info, tcpi_bytes_received) + sizeof info.tcpi_bytes_received) {
        return -ENOSYS;
    }
    return (int64_t)info.tcpi_bytes_received;
}

int32_t ccurl_socket_segments(int32_t fd, uint32_t *came, uint32_t *went) {
    struct tcp_info info;
    socklen_t length = sizeof info;
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) {
        return -errno;
    }
    if (length < offsetof(struct tcp_info, tcpi_segs_in) + sizeof info.tcpi_segs_in) {
        return -ENOSYS;
    }
    *came = info.tcpi_segs_in;
    *went = info.tcpi_segs_out;
    return 0;
}

int32_t ccurl_no_new_privileges(void) {
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 ? 0 : -errno;
}

int32_t ccurl_keep_freed_memory(int32_t bytes) {
    return mallopt(M_MMAP_THRESHOLD, 1 << 20) && mallopt(M_TRIM_THRESHOLD, bytes);
}

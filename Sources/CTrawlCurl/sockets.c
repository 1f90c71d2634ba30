#define _GNU_SOURCE
#include "CTrawlCurl.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/sock_diag.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef SO_BUF_LOCK
#define SO_BUF_LOCK 72
#endif

int32_t ccurl_socket_open(const struct curl_sockaddr *address) {
    int fd = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
    return fd >= 0 ? fd : -errno;
}

int32_t ccurl_socket_limit(int32_t fd, int32_t buffer, int32_t segment) {
    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof buffer) != 0 ||
        setsockopt(fd, IPPROTO_TCP, TCP_MAXSEG, &segment, sizeof segment) != 0) {
        return -errno;
    }
    /* A buffer that is fixed before the handshake fixes the scale of windows too: 64 KiB could be offered at most. Where windows
       are in small units, that is how it stays. Kernels before 5.15 do not know the option. */
    int unlocked = 0;
    if (buffer >= 8 << 10) {
        (void)setsockopt(fd, SOL_SOCKET, SO_BUF_LOCK, &unlocked, sizeof unlocked);
    }
    return 0;
}

int32_t ccurl_socket_fix(int32_t fd, int32_t buffer) {
    return setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof buffer) == 0 ? 0 : -errno;
}

int32_t ccurl_socket_close(int32_t fd) {
    return close(fd) == 0 ? 0 : -errno;
}

uint64_t ccurl_socket_inode(int32_t fd) {
    struct stat facts;
    return fstat(fd, &facts) == 0 && S_ISSOCK(facts.st_mode) ? (uint64_t)facts.st_ino : 0;
}

int32_t ccurl_socket_shutdown(int32_t fd) {
    return shutdown(fd, SHUT_RDWR) == 0 ? 0 : -errno;
}

int32_t ccurl_socket_peek(int32_t fd) {
    char byte;
    ssize_t count = recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return count >= 0 ? (int32_t)count : -errno;
}

/* One end as inet_ntop(3) writes it, like libcurl; the port, or 0 for what is no Internet address. */
static int32_t name_end(const struct sockaddr_storage *address, char *text) {
    const void *host = NULL;
    in_port_t port = 0;
    if (address->ss_family == AF_INET) {
        const struct sockaddr_in *v4 = (const struct sockaddr_in *)address;
        host = &v4->sin_addr;
        port = v4->sin_port;
    } else if (address->ss_family == AF_INET6) {
        const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)address;
        host = &v6->sin6_addr;
        port = v6->sin6_port;
    }
    if (host == NULL || inet_ntop(address->ss_family, host, text, INET6_ADDRSTRLEN) == NULL) {
        return 0;
    }
    return ntohs(port);
}

int32_t ccurl_socket_ends(int32_t fd, struct ccurl_ends *ends) {
    struct sockaddr_storage local, remote;
    socklen_t local_length = sizeof local, remote_length = sizeof remote;
    if (getpeername(fd, (struct sockaddr *)&remote, &remote_length) != 0 ||
        getsockname(fd, (struct sockaddr *)&local, &local_length) != 0) {
        return -errno;
    }
    ends->remote_port = name_end(&remote, ends->remote);
    ends->local_port = name_end(&local, ends->local);
    return ends->remote_port > 0 && ends->local_port > 0 ? 0 : -EAFNOSUPPORT;
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

int32_t ccurl_socket_widen(int32_t fd, int32_t buffer) {
    /* The kernel doubles the one, and the other stays what it was at the handshake. */
    int32_t window = buffer * 2;
    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof buffer) != 0 ||
        setsockopt(fd, IPPROTO_TCP, TCP_WINDOW_CLAMP, &window, sizeof window) != 0) {
        return -errno;
    }
    return 0;
}

int32_t ccurl_socket_round_trip(int32_t fd) {
    struct tcp_info info;
    socklen_t length = sizeof info;
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) {
        return -errno;
    }
    return info.tcpi_rtt <= INT32_MAX ? (int32_t)info.tcpi_rtt : INT32_MAX;
}

int32_t ccurl_socket_traffic(int32_t fd, struct ccurl_traffic *traffic) {
    struct tcp_info info;
    socklen_t length = sizeof info;
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) {
        return -errno;
    }
    if (length < offsetof(struct tcp_info, tcpi_bytes_sent) + sizeof info.tcpi_bytes_sent) {
        return -ENOSYS;
    }
    traffic->received = (int64_t)info.tcpi_bytes_received;
    traffic->sent = (int64_t)info.tcpi_bytes_sent;
    traffic->segments_in = info.tcpi_segs_in;
    traffic->segments_out = info.tcpi_segs_out;
    traffic->data_segments_in = info.tcpi_data_segs_in;
    traffic->segment_length = info.tcpi_rcv_mss;
    uint32_t memory[SK_MEMINFO_VARS] = {0};
    length = sizeof memory;
    (void)getsockopt(fd, SOL_SOCKET, SO_MEMINFO, memory, &length);
    traffic->drops = memory[SK_MEMINFO_DROPS];
    int unread = 0;
    (void)ioctl(fd, SIOCINQ, &unread);
    traffic->unread = unread;
    return 0;
}

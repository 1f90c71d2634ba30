#define _GNU_SOURCE
#include "cplatform.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int32_t write_address(const struct sockaddr *address, char *text, size_t room) {
    const void *bytes = address->sa_family == AF_INET6 ? (const void *)&((const struct sockaddr_in6 *)address)->sin6_addr
                                                       : (const void *)&((const struct sockaddr_in *)address)->sin_addr;
    return inet_ntop(address->sa_family, bytes, text, room) == NULL ? -errno : (int32_t)strlen(text);
}

int32_t cplatform_resolve(const char *name, int32_t ipv4_only, char *text, size_t room) {
    if (room == 0) {
        return -EINVAL;
    }
    const struct addrinfo hints = {
        .ai_family = ipv4_only ? AF_INET : AF_UNSPEC,
        .ai_socktype = SOCK_STREAM,
    };
    struct addrinfo *all = NULL;
    int32_t written = 0;
    if (getaddrinfo(name, NULL, &hints, &all) == 0) {
        for (struct addrinfo *found = all; found != NULL; found = found->ai_next) {
            if ((size_t)written + INET6_ADDRSTRLEN + 2 > room) {
                break;
            }
            if (written > 0) {
                text[written++] = ';';
            }
            int32_t length = write_address(found->ai_addr, text + written, room - (size_t)written);
            written += length > 0 ? length : 0;
        }
        freeaddrinfo(all);
    }
    text[written] = 0;
    return written;
}

int32_t cplatform_own_address(int32_t ipv6, char *text, size_t room) {
    struct sockaddr_storage address = {0};
    socklen_t length = ipv6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
    address.ss_family = ipv6 ? AF_INET6 : AF_INET;
    if (ipv6) {
        inet_pton(AF_INET6, "2001:db8::1", &((struct sockaddr_in6 *)&address)->sin6_addr);
        ((struct sockaddr_in6 *)&address)->sin6_port = htons(9);
    } else {
        inet_pton(AF_INET, "192.0.2.1", &((struct sockaddr_in *)&address)->sin_addr);
        ((struct sockaddr_in *)&address)->sin_port = htons(9);
    }
    int fd = socket(address.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return -errno;
    }
    int32_t result = -ENETUNREACH;
    if (connect(fd, (struct sockaddr *)&address, length) == 0
        && getsockname(fd, (struct sockaddr *)&address, &length) == 0) {
        result = write_address((struct sockaddr *)&address, text, room);
    }
    close(fd);
    return result;
}

#define _GNU_SOURCE
#include "cplatform.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct cplatform_lookup {
    struct gaicb request;
    struct addrinfo hints;
    char name[256];
};

static int32_t write_address(const struct sockaddr *address, char *text, size_t room) {
    const void *bytes = address->sa_family == AF_INET6 ? (const void *)&((const struct sockaddr_in6 *)address)->sin6_addr
                                                       : (const void *)&((const struct sockaddr_in *)address)->sin_addr;
    return inet_ntop(address->sa_family, bytes, text, room) == NULL ? -errno : (int32_t)strlen(text);
}

/* Not for one that is under way: it is written to. */
static void give_back(cplatform_lookup *lookup) {
    if (gai_error(&lookup->request) == 0) {
        freeaddrinfo(lookup->request.ar_result);
    }
    free(lookup);
}

int32_t cplatform_resolve(
    const char *name, int32_t ipv4_only, int32_t milliseconds, char *text, size_t room, cplatform_lookup **left) {
    *left = NULL;
    cplatform_lookup *lookup = calloc(1, sizeof *lookup);
    if (lookup == NULL || strlen(name) >= sizeof lookup->name || room == 0) {
        free(lookup);
        return -EINVAL;
    }
    strcpy(lookup->name, name);
    lookup->hints.ai_family = ipv4_only ? AF_INET : AF_UNSPEC;
    lookup->hints.ai_socktype = SOCK_STREAM;
    lookup->request.ar_name = lookup->name;
    lookup->request.ar_request = &lookup->hints;
    struct gaicb *list[] = {&lookup->request};
    if (getaddrinfo_a(GAI_NOWAIT, list, 1, NULL) != 0) {
        free(lookup);
        return -EAGAIN;
    }
    struct timespec limit = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
    while (gai_error(&lookup->request) == EAI_INPROGRESS) {
        const struct gaicb *waited[] = {&lookup->request};
        if (gai_suspend(waited, 1, &limit) != EAI_AGAIN) {
            continue;
        }
        switch (gai_cancel(&lookup->request)) {
        case EAI_CANCELED:
            /* It had not begun. */
            free(lookup);
            return -ETIMEDOUT;
        case EAI_NOTCANCELED:
            *left = lookup;
            return -ETIMEDOUT;
        default:
            /* Meanwhile it has ended. */
            break;
        }
    }
    int32_t written = 0;
    if (gai_error(&lookup->request) == 0) {
        for (struct addrinfo *found = lookup->request.ar_result; found != NULL; found = found->ai_next) {
            if ((size_t)written + INET6_ADDRSTRLEN + 2 > room) {
                break;
            }
            if (written > 0) {
                text[written++] = ';';
            }
            int32_t length = write_address(found->ai_addr, text + written, room - (size_t)written);
            written += length > 0 ? length : 0;
        }
    }
    give_back(lookup);
    text[written] = 0;
    return written;
}

int32_t cplatform_lookup_ended(cplatform_lookup *lookup) {
    /* Asked of the resolver's list, under its lock: one that is in it is still written to. */
    if (gai_cancel(&lookup->request) == EAI_NOTCANCELED) {
        return 0;
    }
    give_back(lookup);
    return 1;
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

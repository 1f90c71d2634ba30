#define _GNU_SOURCE
#include "cplatform.h"

#include <errno.h>
#include <linux/netlink.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int32_t cplatform_route_socket(uint32_t groups) {
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
    if (fd < 0) {
        return -errno;
    }
    struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = groups};
    if (bind(fd, (struct sockaddr *)&address, sizeof address) != 0) {
        int error = errno;
        close(fd);
        return -error;
    }
    return fd;
}

int64_t cplatform_route_receive(int32_t fd, void *bytes, size_t count, int32_t milliseconds) {
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    while (1) {
        int ready = poll(&wait, 1, milliseconds);
        if (ready <= 0) {
            return ready == 0 ? -EAGAIN : -errno;
        }
        struct sockaddr_nl sender = {0};
        socklen_t length = sizeof sender;
        ssize_t result = recvfrom(fd, bytes, count, 0, (struct sockaddr *)&sender, &length);
        if (result < 0) {
            return -errno;
        }
        // Any process may send here; the kernel's number is 0.
        if (length == sizeof sender && sender.nl_pid == 0) {
            return result;
        }
    }
}

int32_t cplatform_reach(const char *address, uint16_t port, int32_t milliseconds) {
    struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    char service[8];
    snprintf(service, sizeof service, "%u", (unsigned)port);
    if (getaddrinfo(address, service, &hints, &found) != 0) {
        return -EINVAL;
    }
    int32_t result = 0;
    int fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || (connect(fd, found->ai_addr, found->ai_addrlen) != 0 && errno != EINPROGRESS)) {
        result = -errno;
    } else {
        struct pollfd wait = {.fd = fd, .events = POLLOUT};
        int error = 0;
        socklen_t length = sizeof error;
        int ready = poll(&wait, 1, milliseconds);
        if (ready <= 0) {
            result = ready == 0 ? -ETIMEDOUT : -errno;
        } else if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) != 0 || error != 0) {
            result = error != 0 ? -error : -errno;
        }
    }
    freeaddrinfo(found);
    if (fd >= 0) {
        close(fd);
    }
    return result;
}

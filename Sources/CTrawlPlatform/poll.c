#define _GNU_SOURCE
#include "cplatform.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>

_Static_assert(cplatform_event_read == EPOLLIN, "constants repeated in the header");
_Static_assert(cplatform_event_write == EPOLLOUT, "constants repeated in the header");
_Static_assert(cplatform_event_error == EPOLLERR, "constants repeated in the header");
_Static_assert(cplatform_event_hang_up == EPOLLHUP, "constants repeated in the header");
_Static_assert(cplatform_poll_add == EPOLL_CTL_ADD, "constants repeated in the header");
_Static_assert(cplatform_poll_remove == EPOLL_CTL_DEL, "constants repeated in the header");
_Static_assert(cplatform_poll_modify == EPOLL_CTL_MOD, "constants repeated in the header");

int32_t cplatform_epoll_create(void) {
    int result = epoll_create1(EPOLL_CLOEXEC);
    return result >= 0 ? result : -errno;
}

int32_t cplatform_epoll_control(int32_t poller, int32_t operation, int32_t fd, uint32_t events, uint64_t token) {
    struct epoll_event event = {.events = events, .data.u64 = token};
    return epoll_ctl(poller, operation, fd, &event) == 0 ? 0 : -errno;
}

int32_t cplatform_epoll_wait(int32_t poller, cplatform_event *events, int32_t capacity, int64_t timeout_ns) {
    struct epoll_event ready[cplatform_poll_capacity];
    if (capacity > cplatform_poll_capacity) {
        capacity = cplatform_poll_capacity;
    }
    struct timespec timeout = {.tv_sec = timeout_ns / 1000000000, .tv_nsec = timeout_ns % 1000000000};
    int count = epoll_pwait2(poller, ready, capacity, timeout_ns < 0 ? NULL : &timeout, NULL);
    if (count < 0 && (errno == ENOSYS || errno == EPERM)) {
        // Before Linux 5.11, or under a filter that does not know the call: milliseconds, rounded up.
        int64_t milliseconds = timeout_ns < 0 ? -1 : timeout_ns / 1000000 + (timeout_ns % 1000000 != 0);
        count = epoll_wait(poller, ready, capacity, milliseconds > INT_MAX ? INT_MAX : (int)milliseconds);
    }
    if (count < 0) {
        return -errno;
    }
    for (int i = 0; i < count; i++) {
        events[i] = (cplatform_event){.token = ready[i].data.u64, .events = ready[i].events};
    }
    return count;
}

int32_t cplatform_eventfd(uint32_t initial) {
    int result = eventfd(initial, EFD_CLOEXEC | EFD_NONBLOCK);
    return result >= 0 ? result : -errno;
}

#define _GNU_SOURCE
#include "cplatform.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

int32_t cplatform_descriptor_mode(int32_t fd) {
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0) {
        return -errno;
    }
    return flags & O_PATH ? 1 : flags & O_NONBLOCK ? 2 : 0;
}

int32_t cplatform_set_blocking(int32_t fd) {
    int flags = fcntl(fd, F_GETFL);
    return flags >= 0 && fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) == 0 ? 0 : -errno;
}

int32_t cplatform_open_place(const char *path) {
    int result = open(path, O_PATH | O_CLOEXEC);
    return result >= 0 ? result : -errno;
}

int32_t cplatform_open_placed(int32_t fd) {
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int result = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    return result >= 0 ? result : -errno;
}

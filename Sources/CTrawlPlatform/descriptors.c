#define _GNU_SOURCE
#include "cplatform.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

int32_t cplatform_close(int32_t fd) {
    return close(fd) == 0 ? 0 : -errno;
}

int32_t cplatform_dup_above(int32_t fd, int32_t minimum) {
    int result = fcntl(fd, F_DUPFD_CLOEXEC, minimum);
    return result >= 0 ? result : -errno;
}

int32_t cplatform_is_close_on_exec(int32_t fd) {
    int flags = fcntl(fd, F_GETFD);
    return flags >= 0 ? (flags & FD_CLOEXEC) != 0 : -errno;
}

int32_t cplatform_set_close_on_exec(int32_t fd) {
    return fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 ? 0 : -errno;
}

int64_t cplatform_write(int32_t fd, const void *bytes, size_t count) {
    ssize_t result = write(fd, bytes, count);
    return result >= 0 ? result : -errno;
}

int64_t cplatform_read(int32_t fd, void *bytes, size_t count) {
    ssize_t result = read(fd, bytes, count);
    return result >= 0 ? result : -errno;
}

void cplatform_error_text(int32_t error, char *buffer, size_t size) {
    // The GNU form may return a constant string and leave the buffer alone.
    const char *text = strerror_r(error, buffer, size);
    if (text != buffer && size > 0) {
        strncpy(buffer, text, size - 1);
        buffer[size - 1] = '\0';
    }
}

#define _GNU_SOURCE
#include "cplatform.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <unistd.h>

int32_t cplatform_terminal_columns(int32_t fd) {
    struct winsize size;
    if (ioctl(fd, TIOCGWINSZ, &size) != 0) return -errno;
    return size.ws_col;
}

int32_t cplatform_terminal_rows(int32_t fd) {
    struct winsize size;
    if (ioctl(fd, TIOCGWINSZ, &size) != 0) return -errno;
    return size.ws_row;
}

int32_t cplatform_is_foreground(int32_t fd) {
    return tcgetpgrp(fd) == getpgrp();
}

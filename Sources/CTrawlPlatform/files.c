#define _GNU_SOURCE
#include "cplatform.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

int32_t cplatform_openat(int32_t directory, const char *path, int32_t flags, uint32_t mode) {
    int result = openat(directory, path, flags | O_CLOEXEC, (mode_t)mode);
    return result >= 0 ? result : -errno;
}

int32_t cplatform_openat_beneath(int32_t directory, const char *path, int32_t flags) {
    struct open_how how = {
        .flags = (uint64_t)(uint32_t)flags | O_CLOEXEC,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
    };
    long result = syscall(SYS_openat2, directory, path, &how, sizeof how);
    return result >= 0 ? (int32_t)result : -errno;
}

int32_t cplatform_mkdirat(int32_t directory, const char *name, uint32_t mode) {
    return mkdirat(directory, name, (mode_t)mode) == 0 ? 0 : -errno;
}

int32_t cplatform_unlinkat(int32_t directory, const char *name) {
    return unlinkat(directory, name, 0) == 0 ? 0 : -errno;
}

int32_t cplatform_rename(int32_t directory, const char *from, const char *to) {
    return renameat(directory, from, directory, to) == 0 ? 0 : -errno;
}

int32_t cplatform_rename_new(int32_t directory, const char *from, const char *to) {
    return renameat2(directory, from, directory, to, RENAME_NOREPLACE) == 0 ? 0 : -errno;
}

int32_t cplatform_linkat(int32_t directory, const char *from, const char *to) {
    return linkat(directory, from, directory, to, 0) == 0 ? 0 : -errno;
}

int32_t cplatform_openat_unnamed(int32_t directory, uint32_t mode) {
    int result = openat(directory, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, (mode_t)mode);
    return result >= 0 ? result : -errno;
}

/* Whether the system was seen to give names by /proc alone: an empty path takes a privilege (linkat(2),
 * CAP_DAC_READ_SEARCH), and who has none need not ask for each file. */
static atomic_bool needs_proc;

int32_t cplatform_link_open(int32_t fd, int32_t directory, const char *name) {
    bool asks = !atomic_load_explicit(&needs_proc, memory_order_relaxed);
    if (asks && linkat(fd, "", directory, name, AT_EMPTY_PATH) == 0) {
        return 0;
    }
    if (asks && errno != ENOENT && errno != EPERM && errno != EINVAL) {
        return -errno;
    }
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (linkat(AT_FDCWD, path, directory, name, AT_SYMLINK_FOLLOW) != 0) {
        return -errno;
    }
    if (asks) {
        atomic_store_explicit(&needs_proc, true, memory_order_relaxed);
    }
    return 0;
}

int32_t cplatform_can_link_open(int32_t fd) {
    if (linkat(fd, "", AT_FDCWD, "/", AT_EMPTY_PATH) == 0 || errno == EEXIST) {
        return 1;
    }
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return linkat(AT_FDCWD, path, AT_FDCWD, "/", AT_SYMLINK_FOLLOW) == 0 || errno == EEXIST;
}

int32_t cplatform_fsync(int32_t fd) {
    return fsync(fd) == 0 ? 0 : -errno;
}

int32_t cplatform_flush(int32_t fd) {
    int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    if (copy < 0) {
        return -errno;
    }
    return close(copy) == 0 || errno == EINTR ? 0 : -errno;
}

int64_t cplatform_pread(int32_t fd, void *bytes, size_t count, int64_t offset) {
    ssize_t result = pread(fd, bytes, count, (off_t)offset);
    return result >= 0 ? result : -errno;
}

int32_t cplatform_share_blocks(int32_t from, int64_t offset, int64_t count, int32_t to, int64_t place) {
    struct file_clone_range range = {
        .src_fd = from,
        .src_offset = (uint64_t)offset,
        .src_length = (uint64_t)count,
        .dest_offset = (uint64_t)place,
    };
    return ioctl(to, FICLONERANGE, &range) == 0 ? 0 : -errno;
}

int64_t cplatform_position(int32_t fd) {
    off_t result = lseek(fd, 0, SEEK_CUR);
    return result >= 0 ? result : -errno;
}

int64_t cplatform_set_position(int32_t fd, int64_t position) {
    off_t result = lseek(fd, (off_t)position, SEEK_SET);
    return result >= 0 ? result : -errno;
}

int64_t cplatform_regular_size_at(int32_t directory, const char *name) {
    struct stat info;
    if (fstatat(directory, name, &info, AT_SYMLINK_NOFOLLOW) != 0) {
        return -errno;
    }
    return S_ISREG(info.st_mode) ? (int64_t)info.st_size : -EINVAL;
}

int32_t cplatform_mode_at(int32_t directory, const char *name, uint32_t *mode) {
    struct stat info;
    if (fstatat(directory, name, &info, 0) != 0) {
        return -errno;
    }
    *mode = info.st_mode;
    return 0;
}

int32_t cplatform_chmod_open(int32_t fd, uint32_t mode) {
    return fchmod(fd, mode) == 0 ? 0 : -errno;
}

int64_t cplatform_random(void *bytes, size_t count) {
    ssize_t result = getrandom(bytes, count, 0);
    return result >= 0 ? result : -errno;
}

#define _GNU_SOURCE
#include "cplatform.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif

_Static_assert(cplatform_seal_seal == F_SEAL_SEAL, "constants repeated in the header");
_Static_assert(cplatform_seal_shrink == F_SEAL_SHRINK, "constants repeated in the header");
_Static_assert(cplatform_seal_grow == F_SEAL_GROW, "constants repeated in the header");
_Static_assert(cplatform_seal_write == F_SEAL_WRITE, "constants repeated in the header");

int32_t cplatform_memfd_create(const char *name, int32_t no_exec) {
    int result = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | (no_exec ? MFD_NOEXEC_SEAL : 0));
    return result >= 0 ? result : -errno;
}

int32_t cplatform_add_seals(int32_t fd, int32_t seals) {
    return fcntl(fd, F_ADD_SEALS, seals) == 0 ? 0 : -errno;
}

int32_t cplatform_get_seals(int32_t fd) {
    int result = fcntl(fd, F_GET_SEALS);
    return result >= 0 ? result : -errno;
}

int32_t cplatform_truncate(int32_t fd, int64_t size) {
    return ftruncate(fd, size) == 0 ? 0 : -errno;
}

int64_t cplatform_regular_size(int32_t fd) {
    struct stat info;
    if (fstat(fd, &info) != 0) {
        return -errno;
    }
    return S_ISREG(info.st_mode) ? info.st_size : -EINVAL;
}

int32_t cplatform_is_shared_memory(int32_t fd) {
    struct statfs info;
    if (fstatfs(fd, &info) != 0) {
        return -errno;
    }
    return info.f_type == TMPFS_MAGIC;
}

int32_t cplatform_map(int32_t fd, size_t size, int32_t writable, void **address) {
    void *result = mmap(NULL, size, writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fd, 0);
    if (result == MAP_FAILED) {
        return -errno;
    }
    *address = result;
    return 0;
}

int32_t cplatform_unmap(void *address, size_t size) {
    return munmap(address, size) == 0 ? 0 : -errno;
}

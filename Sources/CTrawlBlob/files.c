#define _GNU_SOURCE
#include "CTrawlBlob.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

int32_t cblob_openat(int32_t directory, const char *path, int32_t flags, uint32_t mode) {
    int result = openat(directory, path, flags | O_CLOEXEC, (mode_t)mode);
    return result >= 0 ? result : -errno;
}

int32_t cblob_open_unnamed(int32_t directory, uint32_t mode) {
    int result = openat(directory, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, (mode_t)mode);
    return result >= 0 ? result : -errno;
}

int32_t cblob_link(int32_t from_directory, const char *from, int32_t directory, const char *name) {
    return linkat(from_directory, from, directory, name, 0) == 0 ? 0 : -errno;
}

int32_t cblob_status(int32_t fd, int64_t *size, int64_t *changed, int64_t *links) {
    struct stat info;
    if (fstat(fd, &info) != 0) {
        return -errno;
    }
    if (!S_ISREG(info.st_mode)) {
        return -EINVAL;
    }
    *size = info.st_size;
    *changed = info.st_ctim.tv_sec;
    *links = (int64_t)info.st_nlink;
    return 0;
}

int32_t cblob_reserve(int32_t fd, int64_t size) {
    int result = posix_fallocate(fd, 0, (off_t)size);
    return result == 0 ? 0 : -result;
}

int32_t cblob_fault_room(const char *path, uint64_t *available, uint64_t *size) {
    struct statfs system;
    if (statfs(path, &system) != 0) {
        return -errno;
    }
    switch ((uint32_t)system.f_type) {
    case 0x9123683Eu: // btrfs
    case 0xCA451A4Eu: // bcachefs
    case 0x3434u:     // nilfs2
        break;
    default:
        return 0;
    }
    *available = (uint64_t)system.f_bavail * (uint64_t)system.f_bsize;
    *size = (uint64_t)system.f_blocks * (uint64_t)system.f_bsize;
    return 1;
}

int32_t cblob_map(int32_t fd, size_t size, void **address) {
    void *result = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (result == MAP_FAILED) {
        return -errno;
    }
    *address = result;
    return 0;
}

int32_t cblob_unmap(void *address, size_t size) {
    return munmap(address, size) == 0 ? 0 : -errno;
}

void *cblob_list(int32_t directory, int32_t *error) {
    DIR *list = fdopendir(directory);
    *error = list == NULL ? errno : 0;
    return list;
}

const char *cblob_list_next(void *list, int32_t *error) {
    for (;;) {
        errno = 0;
        struct dirent *entry = readdir(list);
        *error = entry == NULL ? errno : 0;
        if (entry == NULL) {
            return NULL;
        }
        const char *name = entry->d_name;
        if (name[0] == '.' && (name[1] == 0 || (name[1] == '.' && name[2] == 0))) {
            continue;
        }
        return name;
    }
}

void cblob_list_end(void *list) {
    closedir(list);
}

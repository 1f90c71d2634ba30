#define _GNU_SOURCE
#include "cplatform.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static int32_t name_socket(const char *path, struct sockaddr_un *address) {
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    if (strlen(path) >= sizeof address->sun_path) {
        return -ENAMETOOLONG;
    }
    strcpy(address->sun_path, path);
    return 0;
}

int32_t cplatform_local_socket(void) {
    int result = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    return result >= 0 ? result : -errno;
}

int32_t cplatform_local_bind(int32_t fd, const char *path, uint32_t mode) {
    struct sockaddr_un address;
    int32_t named = name_socket(path, &address);
    if (named != 0) {
        return named;
    }
    /* Linux makes the file with the mode of the socket itself: there is no moment with another one, nor a umask to change. */
    if (fchmod(fd, mode) != 0) {
        return -errno;
    }
    return bind(fd, (const struct sockaddr *)&address, sizeof address) == 0 ? 0 : -errno;
}

int32_t cplatform_listen(int32_t fd, int32_t backlog) {
    return listen(fd, backlog) == 0 ? 0 : -errno;
}

int32_t cplatform_accept(int32_t fd) {
    int result = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    return result >= 0 ? result : -errno;
}

int32_t cplatform_local_connect(int32_t fd, const char *path) {
    struct sockaddr_un address;
    int32_t named = name_socket(path, &address);
    if (named != 0) {
        return named;
    }
    return connect(fd, (const struct sockaddr *)&address, sizeof address) == 0 ? 0 : -errno;
}

int32_t cplatform_peer(int32_t fd, uint32_t *user, int32_t *process) {
    struct ucred peer;
    socklen_t length = sizeof peer;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) {
        return -errno;
    }
    *user = peer.uid;
    *process = peer.pid;
    return 0;
}

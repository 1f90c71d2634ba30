#define _GNU_SOURCE
#include "cplatform.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int32_t cplatform_socket_pair(int32_t pair[2]) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0) {
        return -errno;
    }
    pair[0] = ends[0];
    pair[1] = ends[1];
    return 0;
}

int32_t cplatform_socket_buffers(int32_t fd, int32_t send_bytes, int32_t receive_bytes) {
    if (send_bytes > 0 && setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &send_bytes, sizeof send_bytes) != 0) {
        return -errno;
    }
    if (receive_bytes > 0 && setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof receive_bytes) != 0) {
        return -errno;
    }
    return 0;
}

int64_t cplatform_send(int32_t fd, const void *bytes, size_t count) {
    ssize_t result = send(fd, bytes, count, MSG_NOSIGNAL);
    return result >= 0 ? result : -errno;
}

typedef union {
    struct cmsghdr alignment;
    char bytes[CMSG_SPACE(cplatform_message_descriptors * sizeof(int))];
} cplatform_control;

int64_t cplatform_send_descriptors(
    int32_t fd, const void *bytes, size_t count, const int32_t *descriptors, int32_t descriptor_count
) {
    if (descriptor_count < 1 || descriptor_count > cplatform_message_descriptors) {
        return -EINVAL;
    }
    cplatform_control control;
    memset(&control, 0, sizeof control);
    struct iovec vector = {.iov_base = (void *)bytes, .iov_len = count};
    struct msghdr message = {
        .msg_iov = &vector,
        .msg_iovlen = 1,
        .msg_control = control.bytes,
        .msg_controllen = CMSG_SPACE((size_t)descriptor_count * sizeof(int)),
    };
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN((size_t)descriptor_count * sizeof(int));
    memcpy(CMSG_DATA(header), descriptors, (size_t)descriptor_count * sizeof(int));
    ssize_t result = sendmsg(fd, &message, MSG_NOSIGNAL);
    return result >= 0 ? result : -errno;
}

int64_t cplatform_receive(
    int32_t fd, void *bytes, size_t count, int32_t *descriptors, int32_t *descriptor_count, int32_t *truncated
) {
    cplatform_control control;
    struct iovec vector = {.iov_base = bytes, .iov_len = count};
    struct msghdr message = {
        .msg_iov = &vector,
        .msg_iovlen = 1,
        .msg_control = control.bytes,
        .msg_controllen = sizeof control.bytes,
    };
    *descriptor_count = 0;
    *truncated = 0;
    ssize_t result = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
    if (result < 0) {
        return -errno;
    }
    *truncated = (message.msg_flags & MSG_CTRUNC) != 0;
    if (message.msg_controllen == 0) {
        return result;
    }
    for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header != NULL; header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) {
            continue;
        }
        size_t here = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < here; i++) {
            int descriptor;
            memcpy(&descriptor, CMSG_DATA(header) + i * sizeof(int), sizeof(int));
            if (*descriptor_count < cplatform_message_descriptors) {
                descriptors[(*descriptor_count)++] = descriptor;
            } else {
                close(descriptor);
                *truncated = 1;
            }
        }
    }
    return result;
}

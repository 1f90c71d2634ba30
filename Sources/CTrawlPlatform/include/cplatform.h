/// What Swift cannot call by itself: variadics, macros and calls behind _GNU_SOURCE.
///
/// Every function is a thin wrapper without state. Unless said otherwise it returns a value of zero or more on success
/// and `-errno` on failure, and does not retry EINTR. Descriptors it makes are close-on-exec from birth.
#ifndef CPLATFORM_H
#define CPLATFORM_H

#include <stddef.h>
#include <stdint.h>

// Descriptors.

/// close(2).
int32_t cplatform_close(int32_t fd);
/// fcntl(F_DUPFD_CLOEXEC): the lowest free number that is at least `minimum`.
int32_t cplatform_dup_above(int32_t fd, int32_t minimum);
/// fcntl(F_GETFD): 1 when close-on-exec, else 0.
int32_t cplatform_is_close_on_exec(int32_t fd);
/// fcntl(F_SETFD, FD_CLOEXEC).
int32_t cplatform_set_close_on_exec(int32_t fd);
/// What a descriptor's status flags say (fcntl(2) F_GETFL): 1 it names a place and is not open (O_PATH), 2 it is open and
/// does not block (O_NONBLOCK), 0 neither.
int32_t cplatform_descriptor_mode(int32_t fd);
/// Makes a descriptor's calls block.
int32_t cplatform_set_blocking(int32_t fd);
/// open(2) of a place without opening what is there (O_PATH); symbolic links are followed.
int32_t cplatform_open_place(const char *path);
/// open(2) for writing, without waiting and without blocking later, of what an O_PATH descriptor names.
int32_t cplatform_open_placed(int32_t fd);
/// write(2).
int64_t cplatform_write(int32_t fd, const void *bytes, size_t count);
/// read(2).
int64_t cplatform_read(int32_t fd, void *bytes, size_t count);
/// The text of an error number, thread-safe; always terminated.
void cplatform_error_text(int32_t error, char *buffer, size_t size);

// Files and directories.

/// openat(2) with O_CLOEXEC added.
int32_t cplatform_openat(int32_t directory, const char *path, int32_t flags, uint32_t mode);
/// openat2(2) with O_CLOEXEC added, strictly beneath `directory`, through no symbolic link.
int32_t cplatform_openat_beneath(int32_t directory, const char *path, int32_t flags);
int32_t cplatform_mkdirat(int32_t directory, const char *name, uint32_t mode);
int32_t cplatform_unlinkat(int32_t directory, const char *name);
/// renameat(2) inside one directory; replaces what is at `to`.
int32_t cplatform_rename(int32_t directory, const char *from, const char *to);
/// renameat2(2) with RENAME_NOREPLACE inside one directory.
int32_t cplatform_rename_new(int32_t directory, const char *from, const char *to);
/// linkat(2) inside one directory.
int32_t cplatform_linkat(int32_t directory, const char *from, const char *to);
/// open(2) of a file without a name in a directory (O_TMPFILE), for reading and writing.
int32_t cplatform_openat_unnamed(int32_t directory, uint32_t mode);
/// Gives an open file a name; never replaces one.
int32_t cplatform_link_open(int32_t fd, int32_t directory, const char *name);
/// 1 when the system finds an open file to give it a name, else 0. The name asked for is "/", which is taken.
int32_t cplatform_can_link_open(int32_t fd);
int32_t cplatform_fsync(int32_t fd);
/// dup(2) and close(2) of the copy: what closing would report, while the file stays open.
int32_t cplatform_flush(int32_t fd);
/// pread(2).
int64_t cplatform_pread(int32_t fd, void *bytes, size_t count, int64_t offset);
/// Makes `count` bytes of `to`, from `place` on, share the blocks of `from` (FICLONERANGE).
int32_t cplatform_share_blocks(int32_t from, int64_t offset, int64_t count, int32_t to, int64_t place);
/// lseek(2): where an open file stands.
int64_t cplatform_position(int32_t fd);
/// lseek(2) from the start.
int64_t cplatform_set_position(int32_t fd, int64_t position);
/// The size of a regular file, not following a symbolic link; -EINVAL when it is anything else.
int64_t cplatform_regular_size_at(int32_t directory, const char *name);
/// st_mode, following symbolic links.
int32_t cplatform_mode_at(int32_t directory, const char *name, uint32_t *mode);
/// Sets the permissions of an open file.
int32_t cplatform_chmod_open(int32_t fd, uint32_t mode);
/// getrandom(2) from the system's generator.
int64_t cplatform_random(void *bytes, size_t count);

// Memory files.

enum {
    cplatform_seal_seal = 0x1,
    cplatform_seal_shrink = 0x2,
    cplatform_seal_grow = 0x4,
    cplatform_seal_write = 0x8,
};

/// memfd_create(2), sealable; `no_exec` asks for MFD_NOEXEC_SEAL, which kernels before 6.3 answer with EINVAL.
int32_t cplatform_memfd_create(const char *name, int32_t no_exec);
int32_t cplatform_add_seals(int32_t fd, int32_t seals);
/// The seals of a memory file; fails with EINVAL on files that cannot have any.
int32_t cplatform_get_seals(int32_t fd);
int32_t cplatform_truncate(int32_t fd, int64_t size);
/// Size in bytes; -EINVAL when not a regular file.
int64_t cplatform_regular_size(int32_t fd);
/// 1 when the file lives in ordinary shared memory (no huge pages, no disk), else 0.
int32_t cplatform_is_shared_memory(int32_t fd);
/// How many processors this thread may run on: sched_getaffinity(2).
int32_t cplatform_processors(void);
/// sched_setscheduler(2) from SCHED_OTHER to SCHED_BATCH, for this thread and what it starts.
int32_t cplatform_schedule_as_batch(void);
/// mmap(2) of the whole file from its start, shared; `*address` is set on success.
int32_t cplatform_map(int32_t fd, size_t size, int32_t writable, void **address);
int32_t cplatform_unmap(void *address, size_t size);

// Polling.

typedef struct {
    uint64_t token;
    uint32_t events;
    uint32_t reserved;
} cplatform_event;

enum {
    cplatform_event_read = 0x1,
    cplatform_event_write = 0x4,
    cplatform_event_error = 0x8,
    cplatform_event_hang_up = 0x10,
};

enum {
    cplatform_poll_add = 1,
    cplatform_poll_remove = 2,
    cplatform_poll_modify = 3,
    /// The most events one wait returns: what fits into the KiB that a Swift caller gets from its stack.
    cplatform_poll_capacity = 64,
};

int32_t cplatform_epoll_create(void);
int32_t cplatform_epoll_control(int32_t poller, int32_t operation, int32_t fd, uint32_t events, uint64_t token);
/// epoll_pwait2(2), or epoll_wait(2) where that is missing. A negative timeout waits for ever.
int32_t cplatform_epoll_wait(int32_t poller, cplatform_event *events, int32_t capacity, int64_t timeout_ns);
/// A non-blocking eventfd whose counter starts at `initial`.
int32_t cplatform_eventfd(uint32_t initial);

// Sockets.

enum {
    /// The most descriptors one message carries.
    cplatform_message_descriptors = 16,
};

/// A connected pair of non-blocking AF_UNIX stream sockets.
int32_t cplatform_socket_pair(int32_t pair[2]);
/// SO_SNDBUF and SO_RCVBUF; zero leaves the system's choice.
int32_t cplatform_socket_buffers(int32_t fd, int32_t send_bytes, int32_t receive_bytes);
/// send(2) with MSG_NOSIGNAL.
int64_t cplatform_send(int32_t fd, const void *bytes, size_t count);
/// sendmsg(2) with MSG_NOSIGNAL and SCM_RIGHTS; at most `cplatform_message_descriptors`.
int64_t cplatform_send_descriptors(
    int32_t fd, const void *bytes, size_t count, const int32_t *descriptors, int32_t descriptor_count);
/// recvmsg(2) with MSG_CMSG_CLOEXEC. `descriptors` has room for `cplatform_message_descriptors`; what is over is closed
/// and sets `*truncated`, as does a kernel that had to drop some.
int64_t cplatform_receive(
    int32_t fd, void *bytes, size_t count, int32_t *descriptors, int32_t *descriptor_count, int32_t *truncated);

/// A non-blocking AF_UNIX stream socket.
int32_t cplatform_local_socket(void);
/// bind(2) to a path, which gets this mode less the umask; -ENAMETOOLONG for one that no address holds.
int32_t cplatform_local_bind(int32_t fd, const char *path, uint32_t mode);
int32_t cplatform_listen(int32_t fd, int32_t backlog);
/// accept4(2); the connection does not block.
int32_t cplatform_accept(int32_t fd);
/// connect(2) to a path.
int32_t cplatform_local_connect(int32_t fd, const char *path);
/// SO_PEERCRED: whose process made the other end, when it was connected or began to listen.
int32_t cplatform_peer(int32_t fd, uint32_t *user, int32_t *process);

// Threads and processes.

/// environ(7), up to a NULL; NULL itself where there is none (clearenv(3)), which Swift's `environ` traps on.
char *const *cplatform_environment(void);

/// Names the calling thread; at most 15 bytes.
int32_t cplatform_name_thread(const char *name);

/// posix_spawn(3): fd 0 and 1 are /dev/null, fd 2 is inherited or /dev/null, 3 is `control`, 4 is `segment`, nothing else
/// is open. Own process group, default dispositions, empty mask. Both sources must be 10 or higher.
int32_t cplatform_spawn(
    const char *path, char *const *arguments, char *const *environment, int32_t control, int32_t segment,
    int32_t inherits_standard_error, int32_t *process);
int32_t cplatform_pidfd_open(int32_t process);
int32_t cplatform_pidfd_signal(int32_t pidfd, int32_t signal);

enum {
    cplatform_exit_none = 0,
    cplatform_exit_status = 1,
    cplatform_exit_signal = 2,
};

/// waitid(P_PIDFD) without blocking. Returns how it ended (`cplatform_exit_...`); `keep` leaves it waitable.
int32_t cplatform_reap(int32_t pidfd, int32_t keep, int32_t *value);
/// Whether a child is stopped, by waitid(P_PIDFD) without blocking.
int32_t cplatform_is_stopped(int32_t pidfd);
/// Kills the child `process` and waits for it, for one that could not be watched.
int32_t cplatform_kill_and_wait(int32_t process);

// Terminals.

/// The columns of the terminal `fd` (TIOCGWINSZ); 0 when it says nothing, -errno when it is none.
int32_t cplatform_terminal_columns(int32_t fd);
/// Its rows, likewise.
int32_t cplatform_terminal_rows(int32_t fd);
/// Whether the calling process is in the foreground of the terminal `fd`; never of one that is not its controlling one.
int32_t cplatform_is_foreground(int32_t fd);

// Names.

/// The addresses of a name, parted by semicolons, as text with its zero; its length, 0 when there is none. Blocks for as
/// long as the system's resolver wants.
int32_t cplatform_resolve(const char *name, int32_t ipv4_only, char *text, size_t room);
/// The address of this machine's end of the way to the rest of the world, as text with its zero; its length. Nothing is sent.
int32_t cplatform_own_address(int32_t ipv6, char *text, size_t room);

// Networks.

/// A non-blocking socket of rtnetlink(7), to ask the kernel and to hear what it tells `groups` (RTMGRP_...).
int32_t cplatform_route_socket(uint32_t groups);
/// The next datagram of the kernel's; others are dropped. -EAGAIN when none came in time, -ENOBUFS when some were lost.
int64_t cplatform_route_receive(int32_t fd, void *bytes, size_t count, int32_t milliseconds);
/// Connects to an address by TCP and closes the connection at once; -ETIMEDOUT when there was none in time.
int32_t cplatform_reach(const char *address, uint16_t port, int32_t milliseconds);

#endif

#define _GNU_SOURCE
#include "cplatform.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef P_PIDFD
#define P_PIDFD 3
#endif

int32_t cplatform_name_thread(const char *name) {
    return -pthread_setname_np(pthread_self(), name);
}

char *const *cplatform_environment(void) {
    return environ;
}

static int describe_descriptors(
    posix_spawn_file_actions_t *actions, int control, int segment, int inherits_standard_error
) {
    int error = posix_spawn_file_actions_addopen(actions, 0, "/dev/null", O_RDONLY, 0);
    if (error == 0) {
        error = posix_spawn_file_actions_addopen(actions, 1, "/dev/null", O_WRONLY, 0);
    }
    if (error == 0 && !inherits_standard_error) {
        error = posix_spawn_file_actions_addopen(actions, 2, "/dev/null", O_WRONLY, 0);
    }
    if (error == 0) {
        error = posix_spawn_file_actions_adddup2(actions, control, 3);
    }
    if (error == 0) {
        error = posix_spawn_file_actions_adddup2(actions, segment, 4);
    }
    if (error == 0) {
        error = posix_spawn_file_actions_addclosefrom_np(actions, 5);
    }
    return error;
}

static int describe_signals(posix_spawnattr_t *attributes) {
    sigset_t all, none;
    sigfillset(&all);
    sigemptyset(&none);
    int error = posix_spawnattr_setsigdefault(attributes, &all);
    if (error == 0) {
        error = posix_spawnattr_setsigmask(attributes, &none);
    }
    if (error == 0) {
        error = posix_spawnattr_setpgroup(attributes, 0);
    }
    if (error == 0) {
        error = posix_spawnattr_setflags(
            attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
    }
    return error;
}

int32_t cplatform_spawn(
    const char *path, char *const *arguments, char *const *environment, int32_t control, int32_t segment,
    int32_t inherits_standard_error, int32_t *process
) {
    if (control < 10 || segment < 10) {
        return -EINVAL;
    }
    posix_spawn_file_actions_t actions;
    int error = posix_spawn_file_actions_init(&actions);
    if (error != 0) {
        return -error;
    }
    posix_spawnattr_t attributes;
    error = posix_spawnattr_init(&attributes);
    if (error == 0) {
        error = describe_descriptors(&actions, control, segment, inherits_standard_error);
        if (error == 0) {
            error = describe_signals(&attributes);
        }
        pid_t child = 0;
        if (error == 0) {
            error = posix_spawn(&child, path, &actions, &attributes, arguments, environment);
        }
        if (error == 0) {
            *process = child;
        }
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return -error;
}

int32_t cplatform_pidfd_open(int32_t process) {
    long result = syscall(SYS_pidfd_open, (pid_t)process, 0);
    return result >= 0 ? (int32_t)result : -errno;
}

int32_t cplatform_pidfd_signal(int32_t pidfd, int32_t signal) {
    return syscall(SYS_pidfd_send_signal, pidfd, signal, NULL, 0) == 0 ? 0 : -errno;
}

int32_t cplatform_reap(int32_t pidfd, int32_t keep, int32_t *value) {
    siginfo_t info;
    memset(&info, 0, sizeof info);
    if (waitid((idtype_t)P_PIDFD, (id_t)pidfd, &info, WEXITED | WNOHANG | (keep ? WNOWAIT : 0)) != 0) {
        return -errno;
    }
    if (info.si_pid == 0) {
        return cplatform_exit_none;
    }
    *value = info.si_status;
    return info.si_code == CLD_EXITED ? cplatform_exit_status : cplatform_exit_signal;
}

int32_t cplatform_is_stopped(int32_t pidfd) {
    siginfo_t info;
    memset(&info, 0, sizeof info);
    if (waitid((idtype_t)P_PIDFD, (id_t)pidfd, &info, WSTOPPED | WNOHANG | WNOWAIT) != 0) {
        return -errno;
    }
    return info.si_pid != 0;
}

int32_t cplatform_kill_and_wait(int32_t process) {
    kill((pid_t)process, SIGKILL);
    siginfo_t info;
    while (waitid(P_PID, (id_t)process, &info, WEXITED) != 0) {
        if (errno != EINTR) {
            return -errno;
        }
    }
    return 0;
}

int32_t cplatform_processors(void) {
    /* A set that is too small for the machine's is refused. */
    for (int count = CPU_SETSIZE; count <= 1 << 17; count *= 2) {
        cpu_set_t *set = CPU_ALLOC((size_t)count);
        if (set == NULL) {
            return -ENOMEM;
        }
        size_t size = CPU_ALLOC_SIZE((size_t)count);
        int32_t result = sched_getaffinity(0, size, set) == 0 ? CPU_COUNT_S(size, set) : -errno;
        CPU_FREE(set);
        if (result != -EINVAL) {
            return result;
        }
    }
    return -EINVAL;
}

int32_t cplatform_schedule_as_batch(void) {
    /* Any other policy is somebody's choice. */
    if (sched_getscheduler(0) != SCHED_OTHER) {
        return 0;
    }
    const struct sched_param parameters = {.sched_priority = 0};
    return sched_setscheduler(0, SCHED_BATCH, &parameters) == 0 ? 0 : -errno;
}

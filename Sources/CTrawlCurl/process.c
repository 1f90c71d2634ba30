#include "CTrawlCurl.h"

#include <errno.h>
#include <malloc.h>
#include <sys/prctl.h>

int32_t ccurl_no_new_privileges(void) {
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 ? 0 : -errno;
}

int32_t ccurl_signal_at_parents_end(int32_t signal) {
    return prctl(PR_SET_PDEATHSIG, signal, 0, 0, 0) == 0 ? 0 : -errno;
}

int32_t ccurl_keep_freed_memory(int32_t bytes) {
    return mallopt(M_MMAP_THRESHOLD, 1 << 20) && mallopt(M_TRIM_THRESHOLD, bytes);
}

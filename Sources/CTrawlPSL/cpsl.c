#include "CTrawlPSL.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>

/* libpsl is there wherever libcurl is, which is linked to it, and is needed by cookies that name a domain alone. So it is
 * loaded like libcurl, when it is first asked, and two prototypes take the place of its header. */

static const void *list;
static int (*is_public_suffix)(const void *list, const char *domain);
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void) {
    void *handle = dlopen("libpsl.so.5", RTLD_LAZY | RTLD_LOCAL);
    if (handle == NULL) {
        return;
    }
    const void *(*builtin)(void) = NULL;
    *(void **)&builtin = dlsym(handle, "psl_builtin");
    *(void **)&is_public_suffix = dlsym(handle, "psl_is_public_suffix");
    if (builtin != NULL && is_public_suffix != NULL) {
        list = builtin();
    }
}

int32_t cpsl_is_public_suffix(const char *domain) {
    pthread_once(&once, load);
    return list == NULL ? -1 : is_public_suffix(list, domain) != 0;
}

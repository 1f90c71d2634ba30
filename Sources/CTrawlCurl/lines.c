#include "library.h"

#include "CTrawlCurl.h"

#include <stdatomic.h>
#include <stddef.h>

/* libcurl from 7.83 on, up to 8.0, remembers the last field line of a response, to which a line that begins with white space is
 * added, and forgets that line neither when it frees it nor when the handle's next transfer begins. When the next
 * response then begins with such a line, libcurl reads, resizes and writes memory that it has freed: a server reaches
 * into the process (curl's issue 11101; a later version forgets the line). No function of libcurl's clears the pointer, so it is
 * cleared here. It stands right behind the record that curl_easy_nextheader hands out, which is a part of the handle;
 * that it is this pointer is seen from its value, the place of the line that came last. */

enum { UNKNOWN = 0, NOT_NEEDED = -1 };

/* Where the pointer is in a handle, in bytes from its beginning. */
static _Atomic ptrdiff_t place = UNKNOWN;

static const unsigned int any_origin = CURLH_HEADER | CURLH_TRAILER | CURLH_CONNECT | CURLH_1XX | CURLH_PSEUDO;

static int is_affected(void) {
    if (ccurl_library.easy_nextheader == NULL || ccurl_library.version_info == NULL) {
        return 0;
    }
    const curl_version_info_data *library = ccurl_library.version_info(CURLVERSION_NOW);
    return library->version_num < 0x080200;
}

/* The line that came last in the handle's transfer, libcurl's repetitions of the request included; NULL when there is
 * none, or too much to look through: each step looks at all lines there are. *lines is how many were seen. */
static struct curl_header *last_line(CURL *easy, int *lines) {
    enum { MOST_REQUESTS = 16, MOST_LINES = 128 };
    struct curl_header *last = NULL;
    *lines = 0;
    for (int request = 0; request < MOST_REQUESTS; request++) {
        struct curl_header *next = NULL;
        while ((next = ccurl_library.easy_nextheader(easy, any_origin, request, next)) != NULL) {
            last = next;
            if (++*lines > MOST_LINES) {
                return NULL;
            }
        }
    }
    return last;
}

int32_t ccurl_forget_line(CURL *easy) {
    enum { LONGEST_HEAD = 64 << 10 };
    ptrdiff_t found = atomic_load_explicit(&place, memory_order_relaxed);
    if (found == UNKNOWN) {
        if (!is_affected()) {
            atomic_store_explicit(&place, NOT_NEEDED, memory_order_relaxed);
            return 1;
        }
        long length = 0;
        if (ccurl_library.easy_getinfo(easy, CURLINFO_HEADER_SIZE, &length) != CURLE_OK || length > LONGEST_HEAD) {
            return 0;
        }
        if (length == 0) {
            return 1;
        }
        int lines = 0;
        struct curl_header *last = last_line(easy, &lines);
        /* Status lines alone: nothing is remembered of them, and of a transfer before this one the place would be known. */
        if (lines == 0) {
            return 1;
        }
        void **pointer = last == NULL ? NULL : (void **)(last + 1);
        if (pointer == NULL || *pointer != last->anchor) {
            return 0;
        }
        found = (char *)pointer - (char *)easy;
        atomic_store_explicit(&place, found, memory_order_relaxed);
    }
    if (found > 0) {
        *(void **)((char *)easy + found) = NULL;
    }
    return 1;
}

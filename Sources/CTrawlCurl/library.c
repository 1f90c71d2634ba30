#define CURL_DISABLE_TYPECHECK
#include "library.h"

#include "CTrawlCurl.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

/* libcurl and the thirty libraries behind it are loaded when the first function of it is called, not at the start of the
 * program: a coordinator with workers rarely needs it. The functions below have libcurl's own names, so that callers read
 * as usual; they are hidden, so that libcurl itself never finds them. */

struct ccurl_library ccurl_library;
static int32_t outcome = -1;
static char problem[256] = "it lacks functions";
static pthread_once_t once = PTHREAD_ONCE_INIT;

static int resolve(void *handle, const char *name, void *entry) {
    void *symbol = dlsym(handle, name);
    *(void **)entry = symbol;
    return symbol != NULL;
}

static void load(void) {
    void *handle = dlopen("libcurl.so.4", RTLD_LAZY | RTLD_LOCAL);
    if (handle == NULL) {
        const char *why = dlerror();
        snprintf(problem, sizeof problem, "%s", why != NULL ? why : "");
        return;
    }
    struct ccurl_library found;
    int complete = 1;
#define FIND(name) complete &= resolve(handle, "curl_" #name, &found.name)
    FIND(global_init);
    FIND(global_init_mem);
    FIND(easy_init);
    FIND(easy_cleanup);
    FIND(easy_setopt);
    FIND(easy_getinfo);
    FIND(easy_pause);
    FIND(easy_strerror);
    FIND(multi_init);
    FIND(multi_cleanup);
    FIND(multi_setopt);
    FIND(multi_add_handle);
    FIND(multi_remove_handle);
    FIND(multi_perform);
    FIND(multi_poll);
    FIND(multi_wakeup);
    FIND(multi_info_read);
    FIND(slist_append);
    FIND(slist_free_all);
    FIND(url);
    FIND(url_cleanup);
    FIND(url_get);
    FIND(url_set);
    FIND(url_strerror);
    FIND(free);
#undef FIND
    /* From the library behind it: the search goes on among a library's dependencies. */
    complete &= resolve(handle, "SSL_has_pending", &found.ssl_has_pending);
    complete &= resolve(handle, "SSL_get0_alpn_selected", &found.ssl_get0_alpn_selected);
    complete &= resolve(handle, "SSL_get_verify_result", &found.ssl_get_verify_result);
    complete &= resolve(handle, "SSL_get_peer_cert_chain", &found.ssl_get_peer_cert_chain);
    complete &= resolve(handle, "OPENSSL_sk_num", &found.sk_num);
    complete &= resolve(handle, "OPENSSL_sk_value", &found.sk_value);
    complete &= resolve(handle, "X509_check_host", &found.x509_check_host);
    complete &= resolve(handle, "X509_check_ip_asc", &found.x509_check_ip_asc);
    complete &= resolve(handle, "SSL_CTX_load_verify_file", &found.load_verify_file);
    complete &= resolve(handle, "SSL_CTX_load_verify_dir", &found.load_verify_dir);
    complete &= resolve(handle, "SSL_CTX_get_cert_store", &found.get_cert_store);
    complete &= resolve(handle, "SSL_CTX_get_verify_mode", &found.get_verify_mode);
    complete &= resolve(handle, "X509_STORE_set_flags", &found.store_set_flags);
    complete &= resolve(handle, "X509_STORE_add_cert", &found.store_add_cert);
    complete &= resolve(handle, "BIO_new_mem_buf", &found.bio_new_mem_buf);
    complete &= resolve(handle, "BIO_free", &found.bio_free);
    complete &= resolve(handle, "PEM_read_bio_X509", &found.pem_read_bio_x509);
    complete &= resolve(handle, "X509_free", &found.x509_free);
    complete &= resolve(handle, "i2d_X509", &found.i2d_x509);
    /* What only some versions have, or need. */
    resolve(handle, "curl_easy_nextheader", &found.easy_nextheader);
    resolve(handle, "curl_version_info", &found.version_info);
    if (complete) {
        ccurl_library = found;
        outcome = 0;
    }
}

int32_t ccurl_load(void) {
    pthread_once(&once, load);
    return outcome;
}

const char *ccurl_load_problem(void) {
    return problem;
}

#define HIDDEN __attribute__((visibility("hidden")))

/* These make the first handles, so they may come before anything else. */

HIDDEN CURLcode curl_global_init(long flags) {
    return ccurl_load() == 0 ? ccurl_library.global_init(flags) : CURLE_FAILED_INIT;
}

HIDDEN CURL *curl_easy_init(void) {
    return ccurl_load() == 0 ? ccurl_library.easy_init() : NULL;
}

HIDDEN CURLM *curl_multi_init(void) {
    return ccurl_load() == 0 ? ccurl_library.multi_init() : NULL;
}

HIDDEN CURLU *curl_url(void) {
    return ccurl_load() == 0 ? ccurl_library.url() : NULL;
}

HIDDEN struct curl_slist *curl_slist_append(struct curl_slist *list, const char *text) {
    return ccurl_load() == 0 ? ccurl_library.slist_append(list, text) : NULL;
}

/* The others take what these gave. */

HIDDEN void curl_easy_cleanup(CURL *easy) {
    ccurl_library.easy_cleanup(easy);
}

HIDDEN CURLcode curl_easy_pause(CURL *easy, int bitmask) {
    return ccurl_library.easy_pause(easy, bitmask);
}

HIDDEN const char *curl_easy_strerror(CURLcode code) {
    return ccurl_load() == 0 ? ccurl_library.easy_strerror(code) : "libcurl is not there";
}

HIDDEN CURLMcode curl_multi_cleanup(CURLM *multi) {
    return ccurl_library.multi_cleanup(multi);
}

HIDDEN CURLMcode curl_multi_add_handle(CURLM *multi, CURL *easy) {
    return ccurl_library.multi_add_handle(multi, easy);
}

HIDDEN CURLMcode curl_multi_remove_handle(CURLM *multi, CURL *easy) {
    return ccurl_library.multi_remove_handle(multi, easy);
}

HIDDEN CURLMcode curl_multi_perform(CURLM *multi, int *running) {
    return ccurl_library.multi_perform(multi, running);
}

HIDDEN CURLMcode curl_multi_poll(
    CURLM *multi, struct curl_waitfd *more, unsigned int count, int milliseconds, int *ready) {
    return ccurl_library.multi_poll(multi, more, count, milliseconds, ready);
}

HIDDEN CURLMcode curl_multi_wakeup(CURLM *multi) {
    return ccurl_library.multi_wakeup(multi);
}

HIDDEN CURLMsg *curl_multi_info_read(CURLM *multi, int *left) {
    return ccurl_library.multi_info_read(multi, left);
}

HIDDEN void curl_slist_free_all(struct curl_slist *list) {
    if (list != NULL) {
        ccurl_library.slist_free_all(list);
    }
}

HIDDEN void curl_url_cleanup(CURLU *url) {
    ccurl_library.url_cleanup(url);
}

HIDDEN CURLUcode curl_url_get(CURLU *url, CURLUPart part, char **text, unsigned int flags) {
    return ccurl_library.url_get(url, part, text, flags);
}

HIDDEN CURLUcode curl_url_set(CURLU *url, CURLUPart part, const char *text, unsigned int flags) {
    return ccurl_library.url_set(url, part, text, flags);
}

HIDDEN const char *curl_url_strerror(CURLUcode code) {
    return ccurl_load() == 0 ? ccurl_library.url_strerror(code) : "libcurl is not there";
}

HIDDEN void curl_free(void *pointer) {
    ccurl_library.free(pointer);
}

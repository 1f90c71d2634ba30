/// libcurl as it was loaded.
#ifndef CCURL_LIBRARY_H
#define CCURL_LIBRARY_H

#include <curl/curl.h>

/// Every entry this module calls, by libcurl's name without `curl_`.
struct ccurl_library {
    CURLcode (*global_init)(long flags);
    CURLcode (*global_init_mem)(
        long flags, curl_malloc_callback allocate, curl_free_callback release, curl_realloc_callback resize,
        curl_strdup_callback copy, curl_calloc_callback allocate_zeros);
    CURL *(*easy_init)(void);
    void (*easy_cleanup)(CURL *easy);
    CURLcode (*easy_setopt)(CURL *easy, CURLoption option, ...);
    CURLcode (*easy_getinfo)(CURL *easy, CURLINFO info, ...);
    CURLcode (*easy_pause)(CURL *easy, int bitmask);
    const char *(*easy_strerror)(CURLcode code);
    CURLM *(*multi_init)(void);
    CURLMcode (*multi_cleanup)(CURLM *multi);
    CURLMcode (*multi_setopt)(CURLM *multi, CURLMoption option, ...);
    CURLMcode (*multi_add_handle)(CURLM *multi, CURL *easy);
    CURLMcode (*multi_remove_handle)(CURLM *multi, CURL *easy);
    CURLMcode (*multi_perform)(CURLM *multi, int *running);
    CURLMcode (*multi_poll)(CURLM *multi, struct curl_waitfd *more, unsigned int count, int milliseconds, int *ready);
    CURLMcode (*multi_wakeup)(CURLM *multi);
    CURLMsg *(*multi_info_read)(CURLM *multi, int *left);
    struct curl_slist *(*slist_append)(struct curl_slist *list, const char *text);
    void (*slist_free_all)(struct curl_slist *list);
    CURLU *(*url)(void);
    void (*url_cleanup)(CURLU *url);
    CURLUcode (*url_get)(CURLU *url, CURLUPart part, char **text, unsigned int flags);
    CURLUcode (*url_set)(CURLU *url, CURLUPart part, const char *text, unsigned int flags);
    const char *(*url_strerror)(CURLUcode code);
    void (*free)(void *pointer);
    int (*ssl_has_pending)(const void *ssl);
    void (*ssl_get0_alpn_selected)(const void *ssl, const unsigned char **name, unsigned int *length);
    long (*ssl_get_verify_result)(const void *ssl);
    void *(*ssl_get_peer_cert_chain)(const void *ssl);
    int (*sk_num)(const void *stack);
    void *(*sk_value)(const void *stack, int place);
    int (*x509_check_host)(void *certificate, const char *name, size_t length, unsigned int flags, char **peer);
    int (*x509_check_ip_asc)(void *certificate, const char *address, unsigned int flags);
    int (*load_verify_file)(void *tls, const char *path);
    int (*load_verify_dir)(void *tls, const char *path);
    void *(*get_cert_store)(const void *tls);
    int (*get_verify_mode)(const void *tls);
    int (*store_set_flags)(void *store, unsigned long flags);
    int (*store_add_cert)(void *store, void *certificate);
    void *(*bio_new_mem_buf)(const void *bytes, int length);
    int (*bio_free)(void *bio);
    void *(*pem_read_bio_x509)(void *bio, void **certificate, void *callback, void *context);
    void (*x509_free)(void *certificate);
    int (*i2d_x509)(const void *certificate, unsigned char **out);
    /// NULL in a libcurl without it.
    struct curl_header *(*easy_nextheader)(
        CURL *easy, unsigned int origin, int request, struct curl_header *previous);
    /// NULL in a libcurl without it.
    curl_version_info_data *(*version_info)(CURLversion age);
};

/// The table, its entries there once `ccurl_load` gave 0; empty otherwise.
extern struct ccurl_library ccurl_library;

#endif

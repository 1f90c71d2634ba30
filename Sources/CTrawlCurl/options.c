#define _GNU_SOURCE
#define CURL_DISABLE_TYPECHECK
#include "CTrawlCurl.h"

#include "library.h"

#include <locale.h>

CURLcode ccurl_set_long(CURL *easy, CURLoption option, long value) {
    return ccurl_library.easy_setopt(easy, option, value);
}

CURLcode ccurl_set_offset(CURL *easy, CURLoption option, int64_t value) {
    return ccurl_library.easy_setopt(easy, option, (curl_off_t)value);
}

CURLcode ccurl_set_string(CURL *easy, CURLoption option, const char *value) {
    return ccurl_library.easy_setopt(easy, option, value);
}

CURLcode ccurl_set_pointer(CURL *easy, CURLoption option, void *value) {
    return ccurl_library.easy_setopt(easy, option, value);
}

CURLcode ccurl_set_blob(CURL *easy, CURLoption option, const void *bytes, size_t length) {
    struct curl_blob blob = {.data = (void *)bytes, .len = length, .flags = CURL_BLOB_COPY};
    return ccurl_library.easy_setopt(easy, option, bytes == NULL ? NULL : &blob);
}

CURLcode ccurl_set_write(CURL *easy, ccurl_data_callback callback, void *context) {
    CURLcode code = ccurl_library.easy_setopt(easy, CURLOPT_WRITEFUNCTION, callback);
    return code == CURLE_OK ? ccurl_library.easy_setopt(easy, CURLOPT_WRITEDATA, context) : code;
}

CURLcode ccurl_set_header(CURL *easy, ccurl_data_callback callback, void *context) {
    CURLcode code = ccurl_library.easy_setopt(easy, CURLOPT_HEADERFUNCTION, callback);
    return code == CURLE_OK ? ccurl_library.easy_setopt(easy, CURLOPT_HEADERDATA, context) : code;
}

CURLcode ccurl_set_read(CURL *easy, ccurl_data_callback callback, void *context) {
    CURLcode code = ccurl_library.easy_setopt(easy, CURLOPT_READFUNCTION, callback);
    return code == CURLE_OK ? ccurl_library.easy_setopt(easy, CURLOPT_READDATA, context) : code;
}

CURLcode ccurl_set_seek(CURL *easy, ccurl_seek_callback callback, void *context) {
    CURLcode code = ccurl_library.easy_setopt(easy, CURLOPT_SEEKFUNCTION, callback);
    return code == CURLE_OK ? ccurl_library.easy_setopt(easy, CURLOPT_SEEKDATA, context) : code;
}

CURLcode ccurl_set_prerequest(CURL *easy, ccurl_prerequest_callback callback, void *context) {
    CURLcode code = ccurl_library.easy_setopt(easy, CURLOPT_PREREQFUNCTION, callback);
    return code == CURLE_OK ? ccurl_library.easy_setopt(easy, CURLOPT_PREREQDATA, context) : code;
}

CURLcode ccurl_set_open_socket(CURL *easy, ccurl_open_callback callback, void *context) {
    CURLcode code = ccurl_library.easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, callback);
    return code == CURLE_OK ? ccurl_library.easy_setopt(easy, CURLOPT_OPENSOCKETDATA, context) : code;
}

CURLcode ccurl_set_tls(CURL *easy, ccurl_tls_callback callback, void *context) {
    CURLcode code = ccurl_library.easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, callback);
    return code == CURLE_OK ? ccurl_library.easy_setopt(easy, CURLOPT_SSL_CTX_DATA, context) : code;
}

CURLcode ccurl_set_close_socket(CURL *easy, ccurl_close_callback callback, void *context) {
    CURLcode code = ccurl_library.easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, callback);
    return code == CURLE_OK ? ccurl_library.easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, context) : code;
}

CURLcode ccurl_get_long(CURL *easy, CURLINFO info, long *value) {
    return ccurl_library.easy_getinfo(easy, info, value);
}

CURLcode ccurl_get_offset(CURL *easy, CURLINFO info, int64_t *value) {
    curl_off_t result = 0;
    CURLcode code = ccurl_library.easy_getinfo(easy, info, &result);
    *value = result;
    return code;
}

CURLcode ccurl_get_pointer(CURL *easy, CURLINFO info, void **value) {
    return ccurl_library.easy_getinfo(easy, info, value);
}

CURLcode ccurl_get_string(CURL *easy, CURLINFO info, const char **value) {
    char *result = NULL;
    CURLcode code = ccurl_library.easy_getinfo(easy, info, &result);
    *value = result;
    return code;
}

CURLMcode ccurl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return ccurl_library.multi_setopt(multi, option, value);
}

CURLUcode ccurl_url_ascii_host(CURLU *url, char **host) {
    locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    if (utf8 == (locale_t)0) {
        return CURLUE_LACKS_IDN;
    }
    locale_t before = uselocale(utf8);
    CURLUcode code = curl_url_get(url, CURLUPART_HOST, host, CURLU_PUNYCODE);
    uselocale(before);
    freelocale(utf8);
    if (code != CURLUE_OK) {
        /* libcurl 7.88 leaves a copy of a host that has no such form, and nobody to free it. */
        const curl_version_info_data *library =
            ccurl_library.version_info == NULL ? NULL : ccurl_library.version_info(CURLVERSION_NOW);
        if (library != NULL && library->version_num < 0x080000) {
            curl_free(*host);
        }
        *host = NULL;
    }
    return code;
}

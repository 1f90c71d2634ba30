#define CURL_DISABLE_TYPECHECK
#include "CTrawlCurl.h"

#include "library.h"

#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>

static void *tls_of(CURL *easy) {
    struct curl_tlssessioninfo *session = NULL;
    if (ccurl_library.easy_getinfo(easy, CURLINFO_TLS_SSL_PTR, &session) != CURLE_OK || session == NULL) {
        return NULL;
    }
    return session->backend == CURLSSLBACKEND_OPENSSL ? session->internals : NULL;
}

int32_t ccurl_tls_pending(CURL *easy) {
    void *tls = tls_of(easy);
    return tls == NULL ? -1 : ccurl_library.ssl_has_pending(tls);
}

int32_t ccurl_tls_is_http2(CURL *easy) {
    void *tls = tls_of(easy);
    if (tls == NULL) {
        return 0;
    }
    const unsigned char *name = NULL;
    unsigned int length = 0;
    ccurl_library.ssl_get0_alpn_selected(tls, &name, &length);
    return length == 2 && memcmp(name, "h2", 2) == 0;
}

int32_t ccurl_tls_is_checked(void *tls) {
    /* 0: SSL_VERIFY_NONE. */
    return ccurl_library.get_verify_mode(tls) != 0;
}

int32_t ccurl_tls_trust(void *tls, const char *file, const char *directory, const void *bytes, size_t length) {
    int good = 1;
    void *store = ccurl_library.get_cert_store(tls);
    /* 0x80000: X509_V_FLAG_PARTIAL_CHAIN. A trusted certificate need not be a root, as in libcurl. */
    good &= ccurl_library.store_set_flags(store, 0x80000) == 1;
    if (file != NULL) {
        good &= ccurl_library.load_verify_file(tls, file) == 1;
    }
    if (directory != NULL) {
        good &= ccurl_library.load_verify_dir(tls, directory) == 1;
    }
    if (bytes != NULL) {
        void *bio = ccurl_library.bio_new_mem_buf(bytes, (int)length);
        int count = 0;
        void *certificate;
        while (bio != NULL && (certificate = ccurl_library.pem_read_bio_x509(bio, NULL, NULL, NULL)) != NULL) {
            good &= ccurl_library.store_add_cert(store, certificate) == 1;
            ccurl_library.x509_free(certificate);
            count++;
        }
        if (bio != NULL) {
            ccurl_library.bio_free(bio);
        }
        good &= count > 0;
    }
    return good ? 0 : -1;
}

int64_t ccurl_tls_verify_result(CURL *easy) {
    void *tls = tls_of(easy);
    return tls == NULL ? -1 : ccurl_library.ssl_get_verify_result(tls);
}

/* The chain as the peer sent it; a client's has the peer's own certificate first. */
static void *certificate_of(CURL *easy, int32_t place) {
    void *tls = tls_of(easy);
    void *chain = tls == NULL ? NULL : ccurl_library.ssl_get_peer_cert_chain(tls);
    if (chain == NULL || place < 0 || place >= ccurl_library.sk_num(chain)) {
        return NULL;
    }
    return ccurl_library.sk_value(chain, place);
}

int32_t ccurl_tls_names_host(CURL *easy, const char *host) {
    void *certificate = certificate_of(easy, 0);
    if (certificate == NULL) {
        return 0;
    }
    unsigned char address[16];
    if (inet_pton(AF_INET, host, address) == 1 || inet_pton(AF_INET6, host, address) == 1) {
        return ccurl_library.x509_check_ip_asc(certificate, host, 0) == 1;
    }
    /* 4: X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS (RFC 6125 §6.4.3). */
    return ccurl_library.x509_check_host(certificate, host, strlen(host), 4, NULL) == 1;
}

int32_t ccurl_tls_certificate(CURL *easy, int32_t place, uint8_t *bytes, size_t room) {
    void *certificate = certificate_of(easy, place);
    int length = certificate == NULL ? -1 : ccurl_library.i2d_x509(certificate, NULL);
    if (length < 0 || (size_t)length > room) {
        return length;
    }
    unsigned char *out = bytes;
    return ccurl_library.i2d_x509(certificate, &out);
}

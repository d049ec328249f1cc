#include "io/net/self_signed.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

enum { YEAR_S = 365 * 24 * 3600 };

static bool add_extension(X509 *cert, int nid, const char *value)
{
    X509_EXTENSION *x = X509V3_EXT_conf_nid(NULL, NULL, nid, value);
    bool is_fine = x && X509_add_ext(cert, x, -1) == 1;
    X509_EXTENSION_free(x);
    return is_fine;
}

/* Only letters that cannot be read as a further name: a host is what somebody called it. */
static bool is_host_name(struct str host)
{
    for (size_t i = 0; i < host.n; i++) {
        char c = host.p[i];
        if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') &&
            c != '-' && c != '.')
            return false;
    }
    return host.n > 0 && host.n < 64;
}

static bool set_serial(X509 *cert)
{
    uint64_t serial;
    return RAND_bytes((unsigned char *)&serial, sizeof(serial)) == 1 &&
           ASN1_INTEGER_set_uint64(X509_get_serialNumber(cert), serial) == 1;
}

static bool fill(X509 *cert, EVP_PKEY *key, struct str host)
{
    struct buf names = {0};
    buf_printf(&names, "DNS:localhost,IP:127.0.0.1,IP:::1");
    if (is_host_name(host))
        buf_printf(&names, ",DNS:" STR_FMT, STR_ARG(host));
    bool is_fine = X509_set_version(cert, 2) == 1 && set_serial(cert) &&
                   X509_gmtime_adj(X509_getm_notBefore(cert), -3600) &&
                   X509_gmtime_adj(X509_getm_notAfter(cert), YEAR_S) &&
                   X509_set_pubkey(cert, key) == 1 &&
                   X509_NAME_add_entry_by_txt(X509_get_subject_name(cert), "CN", MBSTRING_ASC,
                                              (const unsigned char *)"kubenexus", -1, -1, 0) == 1 &&
                   X509_set_issuer_name(cert, X509_get_subject_name(cert)) == 1 &&
                   add_extension(cert, NID_basic_constraints, "critical,CA:TRUE") &&
                   add_extension(cert, NID_key_usage,
                                 "critical,digitalSignature,keyEncipherment,keyCertSign") &&
                   add_extension(cert, NID_ext_key_usage, "serverAuth") &&
                   add_extension(cert, NID_subject_alt_name, names.p) &&
                   X509_sign(cert, key, EVP_sha256()) > 0;
    buf_done(&names);
    return is_fine;
}

static void take_text(struct buf *out, BIO *bio)
{
    char *text;
    long n = BIO_get_mem_data(bio, &text);
    buf_add_bytes(out, text, (size_t)n);
}

bool self_signed_make(struct str host, struct buf *cert_pem, struct buf *key_pem, struct error *e)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *cert = X509_new();
    BIO *cert_text = BIO_new(BIO_s_mem()), *key_text = BIO_new(BIO_s_mem());
    bool is_fine = key && cert && fill(cert, key, host) &&
                   PEM_write_bio_X509(cert_text, cert) == 1 &&
                   PEM_write_bio_PrivateKey(key_text, key, NULL, NULL, 0, NULL, NULL) == 1;
    if (is_fine) {
        take_text(cert_pem, cert_text);
        take_text(key_pem, key_text);
    }
    BIO_free(cert_text);
    BIO_free(key_text);
    X509_free(cert);
    EVP_PKEY_free(key);
    ERR_clear_error();
    return is_fine || error_set(e, ERROR_INVALID, "no certificate could be made");
}

#include "certs.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

static void add_pem(struct buf *out, BIO *bio)
{
    char *text;
    long n = BIO_get_mem_data(bio, &text);
    buf_add_bytes(out, text, (size_t)n);
    BIO_free(bio);
}

static void add_extension(X509 *cert, int nid, const char *value)
{
    X509_EXTENSION *x = X509V3_EXT_conf_nid(NULL, NULL, nid, value);
    assert(x);
    X509_add_ext(cert, x, -1);
    X509_EXTENSION_free(x);
}

/* Signed by `ca`, or by itself. Gives the certificate and its key to the caller. */
static X509 *make(struct identity *out, const char *name, const char *also, X509 *ca,
                  EVP_PKEY *ca_key, EVP_PKEY **key)
{
    static long serial = 1;
    X509 *cert = X509_new();
    *key = EVP_EC_gen("P-256");
    X509_set_version(cert, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(cert), serial++);
    X509_gmtime_adj(X509_getm_notBefore(cert), -3600);
    X509_gmtime_adj(X509_getm_notAfter(cert), 3600);
    X509_set_pubkey(cert, *key);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(cert), "CN", MBSTRING_ASC,
                               (const unsigned char *)name, -1, -1, 0);
    X509_set_issuer_name(cert, X509_get_subject_name(ca ? ca : cert));
    add_extension(cert, NID_basic_constraints, ca ? "CA:FALSE" : "critical,CA:TRUE");
    if (also)
        add_extension(cert, NID_subject_alt_name, also);
    X509_sign(cert, ca ? ca_key : *key, EVP_sha256());
    BIO *bio = BIO_new(BIO_s_mem());
    PEM_write_bio_X509(bio, cert);
    add_pem(&out->cert_pem, bio);
    bio = BIO_new(BIO_s_mem());
    PEM_write_bio_PrivateKey(bio, *key, NULL, NULL, 0, NULL, NULL);
    add_pem(&out->key_pem, bio);
    return cert;
}

static void make_leaf(struct identity *out, const char *name, const char *also, X509 *ca,
                      EVP_PKEY *ca_key)
{
    EVP_PKEY *key;
    X509_free(make(out, name, also, ca, ca_key, &key));
    EVP_PKEY_free(key);
}

const struct certs *certs_get(void)
{
    static struct certs certs;
    if (certs.ca.cert_pem.n)
        return &certs;
    EVP_PKEY *key;
    make_leaf(&certs.other_ca, "other", NULL, NULL, NULL);
    X509 *ca = make(&certs.ca, "ca", NULL, NULL, NULL, &key);
    make_leaf(&certs.server, "server", "DNS:localhost,DNS:kubernetes,IP:127.0.0.1", ca, key);
    make_leaf(&certs.client, "somebody", NULL, ca, key);
    X509_free(ca);
    EVP_PKEY_free(key);
    return &certs;
}

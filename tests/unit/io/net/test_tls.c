#include "io/net/tls.h"

#include "certs.h"
#include "support/test.h"

TEST(tls, refuses_credentials_that_are_none)
{
    const struct certs *c = certs_get();
    struct str cert = buf_str(&c->client.cert_pem), key = buf_str(&c->client.key_pem);
    struct str other = buf_str(&c->server.key_pem), text = STR("no PEM at all");
    static const struct str nothing;
    const struct {
        struct str ca, cert, key;
        const char *error;
    } cases[] = {
        {buf_str(&c->ca.cert_pem), cert, key, NULL},
        {text, nothing, nothing, "certificate authority: there is no PEM certificate in it"},
        {nothing, text, key, "client certificate: no start line"},
        {nothing, cert, text, "client key: unsupported"},
        {nothing, cert, other, "client key: key values mismatch"},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("case %zu", i);
        struct error e = {0};
        struct tls_config config = {
            .ca_pem = cases[i].ca, .cert_pem = cases[i].cert, .key_pem = cases[i].key};
        struct tls *t = tls_new(&config, &e);
        EXPECT(!t == !!cases[i].error);
        EXPECT_TEXT(e.text, cases[i].error ? cases[i].error : "");
        tls_free(t);
    }
}

TEST(tls, ciphers_are_named_as_iana_names_them)
{
    static const struct {
        const char *names, *error; /* NULL: none */
    } cases[] = {
        {"", NULL},
        {"TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
         NULL},
        {"TLS_AES_128_GCM_SHA256,TLS_RSA_WITH_3DES_EDE_CBC_SHA,TLS_RSA_WITH_RC4_128_SHA", NULL},
        {"TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,ECDHE", "\"ECDHE\" is not a cipher suite"},
        {"TLS_NOPE", "\"TLS_NOPE\" is not a cipher suite"},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        struct error e = {0};
        test_case("%s", cases[i].names);
        EXPECT(tls_check_ciphers(str_of(cases[i].names), &e) == !cases[i].error);
        if (cases[i].error)
            EXPECT_TEXT(e.text, cases[i].error);
    }
}

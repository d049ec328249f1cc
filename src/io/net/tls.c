#include "io/net/tls.h"

#include <arpa/inet.h>
#include <errno.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>

#include "core/base/buf.h"
#include "core/base/mem.h"

enum { CLIENT_BYTES = 1 << 16, SERVER_BYTES = 1 << 13 };

struct tls {
    SSL_CTX *ctx;
};

struct tls_stream {
    SSL *ssl;
    BIO_METHOD *socket;
    int fd;
    bool is_ended; /* the peer has said all */
    char *room;    /* what was read ahead; made when first needed */
    size_t room_bytes, from, to;
    char protocol[16];
};

/* OpenSSL's own word for what went wrong first. */
static bool tls_error(struct error *e, const char *what)
{
    unsigned long code = ERR_get_error();
    const char *reason = code ? ERR_reason_error_string(code) : NULL;
    ERR_clear_error();
    return error_set(e, ERROR_INVALID, "%s: %s", what, reason ? reason : "unknown error");
}

static bool trust(SSL_CTX *ctx, struct str pem, struct error *e)
{
    if (pem.n == 0)
        return SSL_CTX_set_default_verify_paths(ctx) == 1 ||
               tls_error(e, "system's certificate authorities");
    BIO *in = BIO_new_mem_buf(pem.p, (int)pem.n);
    X509 *cert;
    int n = 0;
    for (; (cert = PEM_read_bio_X509(in, NULL, NULL, NULL)); n++) {
        X509_STORE_add_cert(SSL_CTX_get_cert_store(ctx), cert);
        X509_free(cert);
    }
    BIO_free(in);
    ERR_clear_error(); /* the end of the text is told as an error */
    return n > 0 ||
           error_set(e, ERROR_INVALID, "certificate authority: there is no PEM certificate in it");
}

static bool use_chain(SSL_CTX *ctx, struct str pem, const char *what, struct error *e)
{
    BIO *in = BIO_new_mem_buf(pem.p, (int)pem.n);
    X509 *cert = PEM_read_bio_X509_AUX(in, NULL, NULL, NULL);
    bool is_fine = cert && SSL_CTX_use_certificate(ctx, cert) == 1;
    X509_free(cert);
    while (is_fine && (cert = PEM_read_bio_X509(in, NULL, NULL, NULL)))
        is_fine = SSL_CTX_add0_chain_cert(ctx, cert) == 1;
    BIO_free(in);
    if (!is_fine)
        return tls_error(e, what);
    ERR_clear_error();
    return true;
}

/* Nobody is there to be asked for a password. */
static int say_no_password(char *room, int most, int is_writing, void *ctx)
{
    (void)room, (void)most, (void)is_writing, (void)ctx;
    return -1;
}

static bool use_key(SSL_CTX *ctx, struct str pem, const char *what, struct error *e)
{
    BIO *in = BIO_new_mem_buf(pem.p, (int)pem.n);
    EVP_PKEY *key = PEM_read_bio_PrivateKey(in, NULL, say_no_password, NULL);
    BIO_free(in);
    bool is_fine =
        key && SSL_CTX_use_PrivateKey(ctx, key) == 1 && SSL_CTX_check_private_key(ctx) == 1;
    EVP_PKEY_free(key);
    return is_fine || tls_error(e, what);
}

static void set_usual(SSL_CTX *ctx)
{
    SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION);
    SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    SSL_CTX_set_mode(ctx, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
}

static bool set_up(SSL_CTX *ctx, const struct tls_config *config, struct error *e)
{
    set_usual(ctx);
    SSL_CTX_set_verify(ctx, config->is_unverified ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, NULL);
    if (!config->is_unverified && !trust(ctx, config->ca_pem, e))
        return false;
    if (config->cert_pem.n == 0)
        return true;
    return use_chain(ctx, config->cert_pem, "client certificate", e) &&
           use_key(ctx, config->key_pem, "client key", e);
}

struct tls *tls_new(const struct tls_config *config, struct error *e)
{
    struct tls *t = mem_alloc(sizeof(*t));
    t->ctx = SSL_CTX_new(TLS_client_method());
    assert(t->ctx);
    if (set_up(t->ctx, config, e))
        return t;
    tls_free(t);
    return NULL;
}

/* A certificate that does not hold is no reason to hang up: who asks what it is for decides. */
static int go_on(int is_fine, X509_STORE_CTX *store)
{
    (void)is_fine, (void)store;
    return 1;
}

static int choose_protocol(SSL *ssl, const unsigned char **out, unsigned char *n,
                           const unsigned char *in, unsigned in_n, void *ctx)
{
    const char *ours = SSL_get_app_data(ssl);
    (void)ctx;
    for (unsigned i = 0; ours && i < in_n; i += in[i] + 1u)
        if (in[i] == (unsigned char)ours[0] && i + in[i] < in_n &&
            memcmp(in + i + 1, ours + 1, in[i]) == 0) {
            *out = in + i + 1;
            *n = in[i];
            return SSL_TLSEXT_ERR_OK;
        }
    return SSL_TLSEXT_ERR_NOACK;
}

/* One name of IANA behind the names of OpenSSL. Those of TLS 1.3 are always on, as with Go; those
 * that are known to be broken are never offered. */
static bool add_cipher(struct buf *list, struct str name, struct error *e)
{
    static const struct str passed[] = {STR("TLS_AES_"), STR("TLS_CHACHA20_")};
    char text[100];
    snprintf(text, sizeof(text), STR_FMT, STR_ARG(name));
    for (size_t i = 0; i < LEN(passed); i++)
        if (str_starts(name, passed[i]))
            return true;
    if (strstr(text, "_RC4_") || strstr(text, "_3DES_"))
        return true;
    const char *known = OPENSSL_cipher_name(text);
    if (strcmp(known, "(NONE)") == 0)
        return error_set(e, ERROR_INVALID, "\"%s\" is not a cipher suite", text);
    buf_printf(list, "%s%s", list->n ? ":" : "", known);
    return true;
}

static bool set_ciphers(SSL_CTX *ctx, struct str names, struct error *e)
{
    AUTO(buf) list = {0};
    while (names.n)
        if (!add_cipher(&list, str_take(&names, ','), e))
            return false;
    return !list.n || SSL_CTX_set_cipher_list(ctx, list.p) == 1 ||
           error_set(e, ERROR_INVALID, "no cipher suite of %s can be used", list.p);
}

bool tls_check_ciphers(struct str ciphers, struct error *e)
{
    SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
    assert(ctx);
    bool is_fine = set_ciphers(ctx, ciphers, e);
    SSL_CTX_free(ctx);
    return is_fine;
}

static bool set_up_server(SSL_CTX *ctx, const struct tls_server_config *config, struct error *e)
{
    set_usual(ctx);
    if (config->is_1_3_only)
        SSL_CTX_set_min_proto_version(ctx, TLS1_3_VERSION);
    if (!set_ciphers(ctx, config->ciphers, e))
        return false;
    SSL_CTX_set_options(ctx, SSL_OP_NO_TICKET | SSL_OP_CIPHER_SERVER_PREFERENCE);
    SSL_CTX_set_num_tickets(ctx, 0);
    SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS); /* clients are many, and mostly silent */
    SSL_CTX_set_alpn_select_cb(ctx, choose_protocol, NULL);
    if (config->client_ca_pem.n) {
        if (!trust(ctx, config->client_ca_pem, e))
            return false;
        SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, go_on);
    }
    return use_chain(ctx, config->cert_pem, "server certificate", e) &&
           use_key(ctx, config->key_pem, "server key", e);
}

struct tls *tls_new_server(const struct tls_server_config *config, struct error *e)
{
    struct tls *t = mem_alloc(sizeof(*t));
    t->ctx = SSL_CTX_new(TLS_server_method());
    assert(t->ctx);
    if (set_up_server(t->ctx, config, e))
        return t;
    tls_free(t);
    return NULL;
}

void tls_free(struct tls *t)
{
    if (!t)
        return;
    SSL_CTX_free(t->ctx);
    mem_free(t);
}

/* --- the socket, as OpenSSL sees it ---
 *
 * Its own way takes two calls of the system for each record, or, reading ahead, moves all that lies
 * behind a record to the front. */

static bool fill(struct tls_stream *s)
{
    s->room = s->room ? s->room : mem_resize(NULL, s->room_bytes);
    ssize_t n = recv(s->fd, s->room, s->room_bytes, 0);
    s->is_ended = n == 0;
    s->from = 0;
    s->to = n > 0 ? (size_t)n : 0;
    return n > 0;
}

static int read_socket(BIO *b, char *out, size_t most, size_t *got)
{
    struct tls_stream *s = BIO_get_data(b);
    BIO_clear_retry_flags(b);
    if (s->from == s->to && !fill(s)) {
        if (!s->is_ended && errno == EAGAIN)
            BIO_set_retry_read(b);
        return 0;
    }
    *got = MIN(most, s->to - s->from);
    memcpy(out, s->room + s->from, *got);
    s->from += *got;
    return 1;
}

static int write_socket(BIO *b, const char *bytes, size_t n, size_t *done)
{
    struct tls_stream *s = BIO_get_data(b);
    ssize_t rc = send(s->fd, bytes, n, MSG_NOSIGNAL);
    BIO_clear_retry_flags(b);
    if (rc < 0 && errno == EAGAIN)
        BIO_set_retry_write(b);
    *done = rc > 0 ? (size_t)rc : 0;
    return rc > 0;
}

static long control_socket(BIO *b, int what, long number, void *p)
{
    const struct tls_stream *s = BIO_get_data(b);
    (void)number, (void)p;
    return what == BIO_CTRL_FLUSH || (what == BIO_CTRL_EOF && s->is_ended);
}

static bool use_socket(struct tls_stream *s, int fd, size_t room_bytes)
{
    s->fd = fd;
    s->room_bytes = room_bytes;
    s->socket = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "socket");
    if (!s->socket)
        return false;
    BIO_meth_set_read_ex(s->socket, read_socket);
    BIO_meth_set_write_ex(s->socket, write_socket);
    BIO_meth_set_ctrl(s->socket, control_socket);
    BIO *b = BIO_new(s->socket);
    if (!b)
        return false;
    BIO_set_data(b, s);
    BIO_set_init(b, 1);
    SSL_set_bio(s->ssl, b, b);
    return true;
}

/* --- streams --- */

/* A name is also announced to the server, which may have several; an address is not. */
static bool expect_name(SSL *ssl, const char *name)
{
    struct in6_addr address;
    if (inet_pton(AF_INET, name, &address) == 1 || inet_pton(AF_INET6, name, &address) == 1)
        return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), name) == 1;
    SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    return SSL_set1_host(ssl, name) == 1 && SSL_set_tlsext_host_name(ssl, name) == 1;
}

static void set_protocol(struct tls_stream *s, struct str protocol)
{
    assert(protocol.n > 0 && protocol.n < sizeof(s->protocol) - 1);
    s->protocol[0] = (char)protocol.n;
    memcpy(s->protocol + 1, protocol.p, protocol.n);
}

static bool offer_protocol(struct tls_stream *s, struct str protocol)
{
    if (protocol.n == 0)
        return true;
    set_protocol(s, protocol);
    return SSL_set_alpn_protos(s->ssl, (const unsigned char *)s->protocol,
                               (unsigned)protocol.n + 1) == 0;
}

struct tls_stream *tls_stream_new(struct tls *t, int fd, struct str server_name,
                                  struct str protocol, struct error *e)
{
    struct tls_stream *s = mem_alloc(sizeof(*s));
    char *name = mem_alloc(server_name.n + 1);
    memcpy(name, server_name.p, server_name.n);
    s->ssl = SSL_new(t->ctx);
    bool is_fine = s->ssl && use_socket(s, fd, CLIENT_BYTES) && expect_name(s->ssl, name) &&
                   offer_protocol(s, protocol);
    mem_free(name);
    if (is_fine) {
        SSL_set_connect_state(s->ssl);
        return s;
    }
    tls_error(e, "TLS");
    tls_stream_free(s);
    return NULL;
}

struct tls_stream *tls_stream_accept(struct tls *t, int fd, struct str protocol)
{
    struct tls_stream *s = mem_alloc(sizeof(*s));
    set_protocol(s, protocol);
    s->ssl = SSL_new(t->ctx);
    assert(s->ssl);
    SSL_set_app_data(s->ssl, s->protocol);
    bool is_set = use_socket(s, fd, SERVER_BYTES);
    assert(is_set);
    SSL_set_accept_state(s->ssl);
    return s;
}

void tls_stream_free(struct tls_stream *s)
{
    if (!s)
        return;
    SSL_free(s->ssl);
    BIO_meth_free(s->socket);
    ERR_clear_error();
    mem_free(s->room);
    mem_free(s);
}

static enum io_result fail(const struct tls_stream *s, int code, struct error *e)
{
    long verdict = SSL_get_verify_result(s->ssl);
    if (code == SSL_ERROR_SYSCALL && errno)
        error_set(e, ERROR_BUSY, "%s", strerror(errno));
    else if (verdict != X509_V_OK && SSL_get_verify_mode(s->ssl) != SSL_VERIFY_NONE)
        error_set(e, ERROR_DENIED, "the server's certificate is refused: %s",
                  X509_verify_cert_error_string(verdict));
    else
        tls_error(e, "TLS");
    ERR_clear_error();
    return IO_FAILED;
}

static enum io_result result_of(const struct tls_stream *s, int rc, struct error *e)
{
    int code = SSL_get_error(s->ssl, rc);
    if (code == SSL_ERROR_WANT_READ)
        return IO_WANTS_READ;
    if (code == SSL_ERROR_WANT_WRITE)
        return IO_WANTS_WRITE;
    if (code == SSL_ERROR_ZERO_RETURN)
        return IO_CLOSED;
    if (code == SSL_ERROR_SSL &&
        ERR_GET_REASON(ERR_peek_error()) == SSL_R_UNEXPECTED_EOF_WHILE_READING) {
        ERR_clear_error();
        return IO_CUT;
    }
    return fail(s, code, e);
}

/* What others left behind must not be taken for what goes wrong now. To look costs less than to
 * clear. */
static void start_clean(void)
{
    errno = 0;
    if (ERR_peek_error())
        ERR_clear_error();
}

enum io_result tls_handshake(struct tls_stream *s, struct error *e)
{
    start_clean();
    int rc = SSL_do_handshake(s->ssl);
    if (rc != 1)
        return result_of(s, rc, e);
    const unsigned char *chosen;
    unsigned n;
    SSL_get0_alpn_selected(s->ssl, &chosen, &n);
    if (SSL_is_server(s->ssl) || s->protocol[0] == 0 ||
        (n == (unsigned)s->protocol[0] && !memcmp(chosen, s->protocol + 1, n)))
        return IO_DONE;
    error_set(e, ERROR_INVALID, "the server does not speak %s", s->protocol + 1);
    return IO_FAILED;
}

enum io_result tls_read(struct tls_stream *s, void *room, size_t most, size_t *got, struct error *e)
{
    start_clean();
    int rc = SSL_read_ex(s->ssl, room, most, got);
    return rc == 1 ? IO_DONE : result_of(s, rc, e);
}

enum io_result tls_write(struct tls_stream *s, const void *bytes, size_t n, size_t *done,
                         struct error *e)
{
    start_clean();
    int rc = SSL_write_ex(s->ssl, bytes, n, done);
    return rc == 1 ? IO_DONE : result_of(s, rc, e);
}

void tls_stream_trim(struct tls_stream *s)
{
    SSL_free_buffers(s->ssl); /* but not those that hold something */
    if (s->from < s->to)
        return;
    mem_free(s->room);
    s->room = NULL;
}

bool tls_has_pending(const struct tls_stream *s)
{
    return s->from < s->to || SSL_has_pending(s->ssl) == 1;
}

void tls_stream_close(struct tls_stream *s)
{
    if (SSL_is_init_finished(s->ssl))
        SSL_shutdown(s->ssl);
    ERR_clear_error();
}

/* The entry of the name, as UTF-8 in `mem`; empty if that cannot be. */
static struct str entry_text(X509_NAME *name, int at, struct arena *mem)
{
    unsigned char *text = NULL;
    int n = ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at)));
    struct str copy = n > 0 ? arena_str(mem, (struct str){(const char *)text, (size_t)n}) : STR("");
    OPENSSL_free(text);
    return copy;
}

enum tls_client tls_stream_client(const struct tls_stream *s, struct arena *mem,
                                  struct tls_identity *out)
{
    *out = (struct tls_identity){0};
    const X509 *cert = SSL_get0_peer_certificate(s->ssl);
    if (!cert)
        return TLS_CLIENT_SILENT;
    if (SSL_get_verify_result(s->ssl) != X509_V_OK)
        return TLS_CLIENT_REFUSED;
    X509_NAME *name = X509_get_subject_name(cert);
    int at = X509_NAME_get_index_by_NID(name, NID_commonName, -1);
    if (at < 0)
        return TLS_CLIENT_REFUSED;
    out->name = entry_text(name, at, mem);
    out->groups.at = arena_array(mem, struct str, X509_NAME_entry_count(name));
    for (at = -1; (at = X509_NAME_get_index_by_NID(name, NID_organizationName, at)) >= 0;)
        out->groups.at[out->groups.n++] = entry_text(name, at, mem);
    return TLS_CLIENT_PROVEN;
}

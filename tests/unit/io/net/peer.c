#include "peer.h"

#include <arpa/inet.h>
#include <nghttp2/nghttp2.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/mem.h"
#include "core/base/vec.h"

struct stream {
    int32_t id;
    struct buf method, path, headers, body;
    struct buf answer;
    size_t answered;
    bool is_open_ended;
    struct stream *next;
};

struct client {
    struct peer *peer;
    struct loop_fd socket;
    struct loop_task grave;
    SSL *ssl; /* NULL: plain */
    nghttp2_session *session;
    struct stream *streams;
    uint32_t streams_n;
    struct buf out;
    bool is_accepted, is_closing;
};

struct peer {
    struct loop *loop;
    struct peer_config config;
    SSL_CTX *ctx;
    struct loop_fd listener;
    uint16_t port;
    uint32_t accepted, streams, resets, refused;
    VEC(struct client *) clients;
};

static void stream_free(struct stream *s)
{
    buf_done(&s->method);
    buf_done(&s->path);
    buf_done(&s->headers);
    buf_done(&s->body);
    buf_done(&s->answer);
    mem_free(s);
}

static void client_bury(void *ctx)
{
    struct client *c = ctx;
    while (c->streams) {
        struct stream *s = c->streams;
        c->streams = s->next;
        stream_free(s);
    }
    nghttp2_session_del(c->session);
    SSL_free(c->ssl);
    buf_done(&c->out);
    mem_free(c);
}

static void client_end(struct client *c)
{
    struct peer *p = c->peer;
    for (uint32_t i = 0; i < p->clients.n; i++) {
        if (p->clients.at[i] == c) {
            vec_remove(&p->clients, i);
            loop_fd_set(p->loop, &c->socket, 0);
            close(c->socket.fd);
            c->is_closing = true;
            c->grave = (struct loop_task){.run = client_bury, .ctx = c};
            loop_task_put_off(p->loop, &c->grave);
        }
    }
}

static ssize_t read_answer(nghttp2_session *session, int32_t id, uint8_t *room, size_t most,
                           uint32_t *flags, nghttp2_data_source *source, void *ctx)
{
    struct stream *s = source->ptr;
    (void)session, (void)id, (void)ctx;
    struct str left = str_part(buf_str(&s->answer), s->answered, s->answer.n);
    if (left.n == 0 && s->is_open_ended)
        return NGHTTP2_ERR_DEFERRED;
    size_t line = s->is_open_ended ? str_find(left, '\n') + 1 : left.n; /* a frame for each */
    size_t n = MIN(most, line);
    memcpy(room, left.p ? left.p : "", n);
    s->answered += n;
    if (s->answered == s->answer.n && !s->is_open_ended)
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    return (ssize_t)n;
}

static nghttp2_nv header(const char *name, const char *value)
{
    return (nghttp2_nv){(uint8_t *)(uintptr_t)name, (uint8_t *)(uintptr_t)value, strlen(name),
                        strlen(value), 0};
}

static void respond(struct client *c, struct stream *s, const char *status, const char *after,
                    bool has_body)
{
    nghttp2_nv headers[] = {header(":status", status), header("content-type", "application/json"),
                            header("retry-after", after)};
    nghttp2_data_provider body = {.source.ptr = s, .read_callback = read_answer};
    nghttp2_submit_response(c->session, s->id, headers, after[0] ? 3 : 2, has_body ? &body : NULL);
}

static void reset(struct client *c, struct stream *s, uint32_t code)
{
    nghttp2_submit_rst_stream(c->session, 0, s->id, code);
}

static void echo(struct client *c, struct stream *s)
{
    buf_printf(&s->answer, "%s %s" STR_FMT " [" STR_FMT "]", s->method.p, s->path.p,
               STR_ARG(buf_str(&s->headers)), STR_ARG(buf_str(&s->body)));
    X509 *cert = c->ssl ? SSL_get1_peer_certificate(c->ssl) : NULL;
    if (cert) {
        char name[64];
        X509_NAME_get_text_by_NID(X509_get_subject_name(cert), NID_commonName, name, sizeof(name));
        buf_printf(&s->answer, " from %s", name);
        X509_free(cert);
    }
    respond(c, s, "200", "", true);
}

static void say_goodbye(struct client *c, int32_t last)
{
    nghttp2_submit_goaway(c->session, 0, last, NGHTTP2_NO_ERROR, NULL, 0);
}

static void answer_refusal(struct client *c, struct stream *s)
{
    unsigned most = 1u << 30;
    sscanf(s->path.p, "/refuse/%u", &most);
    if (c->peer->refused++ < most)
        reset(c, s, NGHTTP2_REFUSED_STREAM);
    else
        echo(c, s);
}

static void answer_status(struct client *c, struct stream *s)
{
    char status[8] = "", after[16] = "";
    sscanf(s->path.p, "/status/%3[0-9]/after/%15s", status, after);
    buf_printf(&s->answer, "{\"code\":%s}", status);
    respond(c, s, status, after, true);
}

static void answer(struct client *c, struct stream *s)
{
    struct str path = buf_str(&s->path);
    unsigned n = 0;
    if (str_starts(path, STR("/echo"))) {
        echo(c, s);
    } else if (str_starts(path, STR("/status/"))) {
        answer_status(c, s);
    } else if (str_equal(path, STR("/stream"))) {
        buf_printf(&s->answer, "one\ntwo\n");
        s->is_open_ended = true;
        respond(c, s, "200", "", true);
    } else if (sscanf(path.p, "/bytes/%u", &n) == 1) {
        while (n-- > 0)
            buf_add_char(&s->answer, (char)('a' + n % 26));
        respond(c, s, "200", "", true);
    } else if (str_equal(path, STR("/empty"))) {
        respond(c, s, "200", "", false);
    } else if (str_starts(path, STR("/refuse"))) {
        answer_refusal(c, s);
    } else if (str_equal(path, STR("/reset"))) {
        reset(c, s, NGHTTP2_INTERNAL_ERROR);
    } else if (str_equal(path, STR("/goodbye"))) {
        say_goodbye(c, s->id);
        echo(c, s);
    } else if (str_equal(path, STR("/goodbye/all"))) {
        say_goodbye(c, s->id > 2 ? s->id - 2 : 0);
    } else if (str_equal(path, STR("/drop"))) {
        client_end(c);
    }
}

static int begin_stream(nghttp2_session *session, const nghttp2_frame *frame, void *ctx)
{
    struct client *c = ctx;
    struct stream *s = mem_alloc(sizeof(*s));
    s->id = frame->hd.stream_id;
    s->next = c->streams;
    c->streams = s;
    c->peer->streams = MAX(c->peer->streams, ++c->streams_n);
    nghttp2_session_set_stream_user_data(session, s->id, s);
    return 0;
}

static int see_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
                      size_t name_n, const uint8_t *value, size_t value_n, uint8_t flags, void *ctx)
{
    struct stream *s = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
    struct str key = {(const char *)name, name_n}, text = {(const char *)value, value_n};
    (void)flags, (void)ctx;
    if (str_equal(key, STR(":method")))
        buf_add(&s->method, text);
    else if (str_equal(key, STR(":path")))
        buf_add(&s->path, text);
    else if (key.p[0] != ':')
        buf_printf(&s->headers, " " STR_FMT "=" STR_FMT, STR_ARG(key), STR_ARG(text));
    return 0;
}

static int see_data(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *data,
                    size_t n, void *ctx)
{
    struct stream *s = nghttp2_session_get_stream_user_data(session, id);
    (void)flags, (void)ctx;
    buf_add_bytes(&s->body, data, n);
    return 0;
}

static int see_frame(nghttp2_session *session, const nghttp2_frame *frame, void *ctx)
{
    struct client *c = ctx;
    bool is_request = frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA;
    struct stream *s = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
    if (s && is_request && (frame->hd.flags & NGHTTP2_FLAG_END_STREAM))
        answer(c, s);
    if (frame->hd.type == NGHTTP2_RST_STREAM)
        c->peer->resets++;
    return c->is_closing ? NGHTTP2_ERR_CALLBACK_FAILURE : 0;
}

static int end_stream(nghttp2_session *session, int32_t id, uint32_t code, void *ctx)
{
    struct client *c = ctx;
    (void)session, (void)code;
    for (struct stream **at = &c->streams; *at; at = &(*at)->next) {
        if ((*at)->id == id) {
            struct stream *s = *at;
            *at = s->next;
            stream_free(s);
            c->streams_n--;
            return 0;
        }
    }
    return 0;
}

static bool write_out(struct client *c)
{
    while (c->out.n) {
        ssize_t n = c->ssl ? SSL_write(c->ssl, c->out.p, (int)c->out.n)
                           : send(c->socket.fd, c->out.p, c->out.n, MSG_NOSIGNAL);
        if (n <= 0)
            return false;
        memmove(c->out.p, c->out.p + n, c->out.n - (size_t)n);
        c->out.n -= (size_t)n;
    }
    return true;
}

static void flush(struct client *c)
{
    const uint8_t *bytes;
    ssize_t n = 0;
    do {
        while (c->out.n < 1 << 16 && (n = nghttp2_session_mem_send(c->session, &bytes)) > 0)
            buf_add_bytes(&c->out, bytes, (size_t)n);
    } while (write_out(c) && n > 0);
    loop_fd_set(c->peer->loop, &c->socket, LOOP_READ | (c->out.n ? LOOP_WRITE : 0u));
    if (!nghttp2_session_want_read(c->session) && !nghttp2_session_want_write(c->session) &&
        !c->out.n)
        client_end(c);
}

static void serve(void *ctx, uint32_t events)
{
    struct client *c = ctx;
    static char room[1 << 16];
    ssize_t n;
    (void)events;
    if (c->ssl && !c->is_accepted) {
        int rc = SSL_accept(c->ssl);
        if (rc != 1 && SSL_get_error(c->ssl, rc) != SSL_ERROR_WANT_READ)
            client_end(c);
        c->is_accepted = rc == 1;
        if (rc != 1)
            return;
    }
    while ((n = c->ssl ? SSL_read(c->ssl, room, sizeof(room))
                       : read(c->socket.fd, room, sizeof(room))) > 0) {
        if (nghttp2_session_mem_recv(c->session, (uint8_t *)room, (size_t)n) < 0) {
            client_end(c);
            return;
        }
    }
    bool is_over = c->ssl ? SSL_get_error(c->ssl, (int)n) != SSL_ERROR_WANT_READ : n == 0;
    if (is_over)
        client_end(c);
    else
        flush(c);
}

static void start_session(struct client *c)
{
    nghttp2_session_callbacks *calls;
    nghttp2_session_callbacks_new(&calls);
    nghttp2_session_callbacks_set_on_begin_headers_callback(calls, begin_stream);
    nghttp2_session_callbacks_set_on_header_callback(calls, see_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(calls, see_data);
    nghttp2_session_callbacks_set_on_frame_recv_callback(calls, see_frame);
    nghttp2_session_callbacks_set_on_stream_close_callback(calls, end_stream);
    nghttp2_session_server_new(&c->session, calls, c);
    nghttp2_session_callbacks_del(calls);
    uint32_t most = c->peer->config.streams_most;
    uint32_t window = c->peer->config.window_bytes ? c->peer->config.window_bytes : 65535;
    nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, most ? most : 100},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, window},
    };
    nghttp2_submit_settings(c->session, 0, settings, LEN(settings));
    nghttp2_session_set_local_window_size(c->session, 0, 0, (int32_t)window);
    if (c->peer->config.is_leaving)
        nghttp2_submit_goaway(c->session, 0, 0, NGHTTP2_NO_ERROR, NULL, 0);
}

static void accept_client(void *ctx, uint32_t events)
{
    struct peer *p = ctx;
    int fd = accept4(p->listener.fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    (void)events;
    if (fd < 0)
        return;
    struct client *c = mem_alloc(sizeof(*c));
    c->peer = p;
    c->socket = (struct loop_fd){.ready = serve, .ctx = c, .fd = fd};
    if (p->ctx) {
        c->ssl = SSL_new(p->ctx);
        SSL_set_fd(c->ssl, fd);
    }
    start_session(c);
    p->accepted++;
    vec_push(&p->clients, c);
    loop_fd_set(p->loop, &c->socket, LOOP_READ);
}

static int choose_protocol(SSL *ssl, const unsigned char **out, unsigned char *n,
                           const unsigned char *in, unsigned in_n, void *ctx)
{
    struct peer *p = ctx;
    struct str ours = str_of(p->config.protocol ? p->config.protocol : "h2");
    (void)ssl;
    for (unsigned i = 0; i < in_n; i += in[i] + 1u) {
        if (str_equal((struct str){(const char *)in + i + 1, in[i]}, ours)) {
            *out = in + i + 1;
            *n = in[i];
            return SSL_TLSEXT_ERR_OK;
        }
    }
    return SSL_TLSEXT_ERR_NOACK;
}

static void start_tls(struct peer *p)
{
    const struct certs *certs = certs_get();
    BIO *bio = BIO_new_mem_buf(certs->server.cert_pem.p, (int)certs->server.cert_pem.n);
    X509 *cert = PEM_read_bio_X509(bio, NULL, NULL, NULL);
    BIO_free(bio);
    bio = BIO_new_mem_buf(certs->server.key_pem.p, (int)certs->server.key_pem.n);
    EVP_PKEY *key = PEM_read_bio_PrivateKey(bio, NULL, NULL, NULL);
    BIO_free(bio);
    p->ctx = SSL_CTX_new(TLS_server_method());
    SSL_CTX_use_certificate(p->ctx, cert);
    SSL_CTX_use_PrivateKey(p->ctx, key);
    SSL_CTX_set_mode(p->ctx, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_alpn_select_cb(p->ctx, choose_protocol, p);
    X509_free(cert);
    EVP_PKEY_free(key);
    if (!p->config.wants_client)
        return;
    bio = BIO_new_mem_buf(certs->ca.cert_pem.p, (int)certs->ca.cert_pem.n);
    X509 *ca = PEM_read_bio_X509(bio, NULL, NULL, NULL);
    BIO_free(bio);
    X509_STORE_add_cert(SSL_CTX_get_cert_store(p->ctx), ca);
    X509_free(ca);
    SSL_CTX_set_verify(p->ctx, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
}

struct peer *peer_new(struct loop *l, const struct peer_config *config)
{
    struct peer *p = mem_alloc(sizeof(*p));
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons(config->port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof(address);
    p->loop = l;
    p->config = *config;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int));
    int rc = bind(fd, (struct sockaddr *)&address, n) | listen(fd, 64) |
             getsockname(fd, (struct sockaddr *)&address, &n);
    assert(rc == 0);
    p->port = ntohs(address.sin_port);
    p->listener = (struct loop_fd){.ready = accept_client, .ctx = p, .fd = fd};
    loop_fd_set(l, &p->listener, LOOP_READ);
    if (config->is_tls)
        start_tls(p);
    return p;
}

void peer_free(struct peer *p)
{
    if (!p)
        return;
    while (p->clients.n)
        client_end(p->clients.at[0]);
    loop_fd_set(p->loop, &p->listener, 0);
    close(p->listener.fd);
    SSL_CTX_free(p->ctx);
    vec_done(&p->clients);
    mem_free(p);
}

uint16_t peer_port(const struct peer *p)
{
    return p->port;
}

uint32_t peer_accepted(const struct peer *p)
{
    return p->accepted;
}

uint32_t peer_connected(const struct peer *p)
{
    return p->clients.n;
}

uint32_t peer_streams(const struct peer *p)
{
    return p->streams;
}

uint32_t peer_resets(const struct peer *p)
{
    return p->resets;
}

void peer_freeze(struct peer *p)
{
    vec_each(&p->clients, c)
        loop_fd_set(p->loop, &(*c)->socket, 0);
}

void peer_say_goodbye(struct peer *p)
{
    for (uint32_t i = p->clients.n; i > 0; i--) {
        struct client *c = p->clients.at[i - 1];
        say_goodbye(c, nghttp2_session_get_last_proc_stream_id(c->session));
        flush(c);
    }
}

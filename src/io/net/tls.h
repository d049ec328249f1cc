#pragma once

#include "core/base/arena.h"
#include "core/base/error.h"
#include "core/base/str.h"

/* TLS, as a client or as a server, over sockets that never block. Certificates are verified:
 * against the authorities that are given, and then only those, or against the system's. Errors are
 * one line. */

/* What connections to one server share: whom we trust and who we are. Connections made with it
 * outlive it. */
struct tls;

struct tls_config {
    struct str ca_pem;            /* empty: the system's authorities */
    struct str cert_pem, key_pem; /* who we are; empty: nobody */
    bool is_unverified;           /* any server will do */
};

struct tls *tls_new(const struct tls_config *config, struct error *e) MUST_USE;

/* As a server: who we are (both are needed), and the authorities of clients who show a certificate,
 * which is asked for if there are any. */
struct tls_server_config {
    struct str cert_pem, key_pem;
    struct str client_ca_pem;
    bool is_1_3_only;   /* else 1.2, too */
    struct str ciphers; /* of TLS 1.2: names of IANA, with commas; empty: the usual ones */
};

/* Could it have these ciphers? */
bool tls_check_ciphers(struct str ciphers, struct error *e) MUST_USE;

struct tls *tls_new_server(const struct tls_server_config *config, struct error *e) MUST_USE;
void tls_free(struct tls *t);

/* How reading and writing went; TLS may want the one to do the other. */
enum io_result {
    IO_DONE,
    IO_WANTS_READ,
    IO_WANTS_WRITE,
    IO_CLOSED, /* the peer has said all, and says so */
    IO_CUT,    /* it is gone without a word: perhaps somebody else cut it off */
    IO_FAILED, /* for a reason in the error */
};

struct tls_stream;

/* `server_name`, a name or an address, is what the server must prove to be; `protocol` (h2) is what
 * it must speak (empty: whatever it speaks to those who do not say). The file descriptor stays the
 * caller's. */
struct tls_stream *tls_stream_new(struct tls *t, int fd, struct str server_name,
                                  struct str protocol, struct error *e) MUST_USE;

/* A client has come; we speak `protocol` with it, also if it does not ask for that. */
struct tls_stream *tls_stream_accept(struct tls *t, int fd, struct str protocol);

void tls_stream_free(struct tls_stream *s);

/* Says goodbye, as far as that is possible at once. */
void tls_stream_close(struct tls_stream *s);

/* Who the client is, by its certificate: a name, and the groups it is in. */
enum tls_client { TLS_CLIENT_SILENT, TLS_CLIENT_PROVEN, TLS_CLIENT_REFUSED };

struct tls_identity {
    struct str name;
    LIST(struct str) groups;
};

enum tls_client tls_stream_client(const struct tls_stream *s, struct arena *mem,
                                  struct tls_identity *out);

enum io_result tls_handshake(struct tls_stream *s, struct error *e) MUST_USE;
enum io_result tls_read(struct tls_stream *s, void *room, size_t most, size_t *got,
                        struct error *e) MUST_USE;
enum io_result tls_write(struct tls_stream *s, const void *bytes, size_t n, size_t *done,
                         struct error *e) MUST_USE;

/* Gives back the room for what is read and written, as far as it is empty; it comes back with the
 * next bytes. */
void tls_stream_trim(struct tls_stream *s);

/* Are there bytes that the socket will not announce? */
bool tls_has_pending(const struct tls_stream *s);

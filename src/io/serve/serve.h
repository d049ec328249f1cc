#pragma once

#include "core/base/buf.h"
#include "core/base/error.h"
#include "io/loop/loop.h"
#include "io/net/server.h"
#include "io/serve/health.h"

/* What others may ask a running scheduler, over HTTPS: the pages of a table, health among them.
 * Only GET and HEAD; every path but those that are always allowed needs a right, which somebody
 * else judges (kube/review.h). Certificates are files, looked at again when they change, or one is
 * made in memory. */

struct serve;

/* Who asks for what. */
struct serve_question {
    struct str token; /* of `Authorization: Bearer`; empty: none */
    bool is_proven;   /* by a certificate: */
    struct tls_identity client;
    struct str verb, path;
};

enum serve_verdict { SERVE_ALLOWED, SERVE_STRANGER, SERVE_DENIED, SERVE_BUSY, SERVE_FAILED };

/* A page: its path, the type of its text, who writes it. */
struct serve_page {
    const char *path, *content_type;
    void (*write)(void *ctx, struct buf *out);
};

struct serve_config {
    struct server_config server;
    const char *cert_file, *key_file; /* PEM; both NULL: one is made */
    const char *client_ca_file;       /* of clients' certificates; NULL: see serve_trust() */
    bool is_tls_1_3_only;             /* else 1.2, too */
    struct str ciphers;               /* of TLS 1.2 (io/net/tls.h); empty: the usual ones */
    struct str host;                  /* for the certificate that is made */
    struct str always_allowed;        /* "/healthz,/livez": paths; with a * at the end all below */
    const struct health *health;
    uint32_t n_health;
    const struct serve_page *pages;
    uint32_t n_pages;
};

struct serve_owner {
    void *ctx; /* of checks and pages, too */
    /* May they? Answered by serve_decide(), also from within. */
    void (*judge)(void *ctx, server_id id, const struct serve_question *question);
    void (*note)(void *ctx, bool is_fine, const char *text); /* for the log: one line */
};

/* NULL with `e` set if the address or the files are not as they should be. The configuration's
 * texts and tables outlive it. */
struct serve *serve_new(struct loop *l, const struct serve_config *config, struct serve_owner owner,
                        struct error *e) MUST_USE;
void serve_free(struct serve *s);

/* `user` is the name for who is denied; empty: nobody in particular. */
void serve_decide(struct serve *s, server_id id, enum serve_verdict verdict, struct str user);

/* The authorities of clients' certificates, from now on; PEM, or empty: none are asked for. */
void serve_trust(struct serve *s, struct str client_ca_pem);

uint16_t serve_port(const struct serve *s);
struct server_stats serve_stats(const struct serve *s);

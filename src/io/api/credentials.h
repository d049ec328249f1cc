#pragma once

#include "io/api/kubeconfig.h"
#include "io/loop/loop.h"
#include "io/net/tls.h"

/* Who we are to the API server, kept up to date: files are read again when they change, a program
 * that prints credentials is run again before what it printed expires, and both are done when the
 * server says that it does not know us. What cannot be read or run leaves what we had. */

struct credentials;

struct credentials_config {
    const char *kubeconfig;      /* a file; NULL: the service account of the pod we run in, */
    const char *service_account; /* whose folder this is; NULL: where kubelet puts it */
    const char *server;          /* a URL instead of theirs; NULL: theirs */
};

struct credentials_owner {
    /* The server, or how it is reached, has changed, or is known for the first time. The texts stay
     * as they are until after the next such call; `tls` is NULL for a plain connection. */
    void (*placed)(void *ctx, const struct kubeconfig *server, struct tls *tls);

    /* The value of the header, or empty, for what is sent from now on. Comes before `placed`. */
    void (*authorized)(void *ctx, struct str authorization);

    void (*failed)(void *ctx, const char *why); /* one line */
    void *ctx;
};

/* NULL, with `e` set, if the files are not what they should be. The owner is called in later turns.
 */
struct credentials *credentials_new(struct loop *l, const struct credentials_config *config,
                                    struct credentials_owner owner, struct error *e) MUST_USE;
void credentials_free(struct credentials *c);

/* The server does not know us (401): look again, but not more often than once a second. */
void credentials_refuse(struct credentials *c);

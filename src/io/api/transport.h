#pragma once

#include "core/base/error.h"
#include "core/base/metric.h"
#include "core/base/str.h"
#include "io/loop/loop.h"
#include "io/net/http2.h"
#include "kube/request.h"

/* Carries requests to the API server and brings its replies. Each lane has a connection of its own,
 * made when there is something to say; credentials are added on the way, and looked at again when
 * the server does not know us. What a request means, and whether it is to be repeated, is not known
 * here. */

struct transport;

struct transport_config {
    const char *kubeconfig;      /* a file; NULL: the service account of the pod we run in, */
    const char *service_account; /* whose folder this is; NULL: where kubelet puts it */
    const char *server;          /* a URL instead of theirs; NULL: theirs */
    struct str user_agent;
    double qps;           /* requests a second; 0: no limit. The lease's are not counted */
    uint32_t burst;       /* that may go at once after a quiet time; with qps at least 1 */
    struct http2_law law; /* http2_usual_law, with a seed */
};

struct transport_owner {
    void (*deliver)(void *ctx, const struct reply *reply);
    void (*complain)(void *ctx,
                     const char *text); /* what no request tells of, for the log: one line */
    void *ctx;
};

/* NULL, with `e` set, if the kubeconfig is not what it should be. The texts of the configuration
 * must outlive it. */
struct transport *transport_new(struct loop *l, const struct transport_config *config,
                                struct transport_owner owner, struct error *e) MUST_USE;

/* No reply comes any more. Not from within a reply. */
void transport_free(struct transport *t);

/* Takes the requests on their way, those of one lane in their order, and gives up the cancelled
 * ones. All is copied. */
void transport_send(struct transport *t, const struct requests *requests);

/* How requests were answered: by method and status; 0: not at all. */
struct transport_count {
    const char *method;
    int status;
    uint64_t n;
};

const struct transport_count *transport_counts(const struct transport *t, uint32_t *n);

/* How long it took to the head of an answer, by method, in seconds. */
struct transport_times {
    const char *method;
    struct histogram times;
};

extern const struct bounds transport_bounds;
const struct transport_times *transport_times(const struct transport *t, uint32_t *n);

/* host:port of the API server, as far as it is known. */
struct str transport_host(const struct transport *t);

/* Makes the lane's connection, so that its first request need not wait for it. */
void transport_open_lane(struct transport *t, enum lane lane);

/* Gives back the room that nothing under way needs: for quiet moments. */
void transport_trim(struct transport *t);

/* Cuts the lane's connection at once: what has not left us by now never will. Its requests are
 * lost. The next request of the lane makes a new connection. */
void transport_close_lane(struct transport *t, enum lane lane);

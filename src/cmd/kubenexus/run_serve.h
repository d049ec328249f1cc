#pragma once

#include "cmd/kubenexus/measure.h"
#include "cmd/kubenexus/run_options.h"
#include "core/base/metric.h"
#include "core/engine/engine.h"
#include "io/api/transport.h"
#include "io/loop/loop.h"
#include "kube/client.h"

/* What `kubenexus run` tells others who ask: health, metrics, configuration, flags, state. Who may
 * is judged by the API server. */

struct run_serve;

/* What is told about; all of it outlives it. */
struct run_state {
    const struct run_options *options;
    struct loop *loop;
    const struct transport *transport;
    const struct engine *engine;
    const struct client *client;
    const struct measures *measures;
    const int64_t *stop_ms;    /* 0: we are not stopping */
    struct requests *requests; /* where ours go */
    struct listener *listener; /* told what does not work */
    struct str host;
};

/* NULL: --secure-port is 0, or, with `e` set, it cannot be done. */
struct run_serve *run_serve_new(const struct run_state *state, struct error *e);
void run_serve_free(struct run_serve *s);

/* Is the reply ours? Then it was heard. `s` may be NULL. */
bool run_serve_hear(struct run_serve *s, int64_t now_ms, const struct reply *reply);

/* All tables of metrics, in the order in which they are told. */
struct metric_table {
    const struct metric *rows;
    uint32_t n;
};

enum { METRIC_TABLES = 8 };
uint32_t run_metric_tables(struct metric_table *out, uint32_t most);

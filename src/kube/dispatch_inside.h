#pragma once

#include "kube/dispatch.h"
#include "kube/meaning.h"

/* Of dispatch.c, for what has a file of its own. */

/* What happened to a write. */
struct happening {
    enum write_event on;
    int64_t now_ms;
    struct requests *out;
    const struct trouble *why; /* of what went wrong; else NULL */
};

typedef void action(struct dispatch *d, uint32_t i, const struct happening *h);

/* Sends the write for the first time, or for the first time as what it is now. */
action dispatch_send;

/* Forgets the write, and tells the listener how it ended; `why` NULL: well. */
void dispatch_settle(struct dispatch *d, uint32_t i, int64_t now_ms, const struct error *why);

/* What went wrong with a binding or an eviction; `why` NULL: the pod is gone, or somebody else's.
 */
struct error dispatch_error(const struct write *w, const struct trouble *why);

/* An event about the write's pod, with the text that is in d->text. */
void dispatch_add_event(struct dispatch *d, const struct write *w, enum event_kind kind,
                        int64_t now_ms);

/* --- dispatch_evict.c --- */

void dispatch_evict(struct dispatch *d, const struct effect *e, const struct happening *h);
action dispatch_probe_done, dispatch_probe_refused;
action dispatch_mark_done, dispatch_mark_refused;
action dispatch_delete_done, dispatch_delete_refused;

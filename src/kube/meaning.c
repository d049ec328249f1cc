#include "kube/meaning.h"

enum { TRIES = 4 };

enum write_event write_bind_meaning(struct write *w, const struct trouble *why, bool was_sent)
{
    int status = why->status;
    bool may_pass = !was_sent || status == 401 || status == 429 || status == 500 || status == 503 ||
                    trouble_is_denied(why);
    w->may_be_done = w->may_be_done || (was_sent && status == 0) || status >= 500;
    w->was_refused = status >= 400 && status < 500;
    if (may_pass && w->tries < TRIES)
        return BUSY;
    return w->may_be_done && status != 404 ? UNSURE : REFUSED;
}

enum write_event write_again_meaning(const struct write *w, const struct trouble *why)
{
    bool may_pass = trouble_is_passing(why) ||
                    (why->status == 409 && w->kind != WRITE_DELETE && w->kind != WRITE_PROBE);
    return may_pass && w->tries < TRIES ? BUSY : REFUSED;
}

enum write_event write_object_meaning(struct write *w, const struct trouble *why, bool was_sent)
{
    bool may_pass = trouble_is_passing(why) || why->status == 0 || why->status >= 500;
    w->may_be_done = w->may_be_done || (was_sent && why->status == 0) || why->status >= 500;
    return may_pass && (w->may_be_done || w->tries < TRIES) ? BUSY : REFUSED;
}

enum write_event write_pod_meaning(const struct write *w, const struct pod *pod)
{
    if (!str_equal(pod->meta.uid, w->uid))
        return ELSEWHERE;
    if (pod->spec.node_name.n == 0)
        return w->binder ? REFUSED : w->was_refused ? ELSEWHERE : OPEN;
    return str_equal(pod->spec.node_name, w->node) ? THERE : ELSEWHERE;
}

/* A pod that is evicted is told why (WRITE_MARK), then deleted (WRITE_DELETE). Evictions of one
 * plan are probed first (WRITE_PROBE): when the server has said of all of them that they would go,
 * all begin; else none does. */

#include "kube/dispatch_inside.h"

static struct write *at(const struct dispatch *d, uint32_t i)
{
    return writes_at(&d->writes, i);
}

/* --- how they begin --- */

static void start_eviction(struct dispatch *d, uint32_t i, const struct happening *h)
{
    at(d, i)->kind = WRITE_MARK;
    at(d, i)->plan = 0;
    at(d, i)->tries = at(d, i)->pauses = 0;
    dispatch_send(d, i, h);
}

static void call_off(struct dispatch *d, uint32_t i, const struct happening *h)
{
    const struct write *w = at(d, i);
    struct trouble why = {.status = w->probed_status, .message = writes_why(&d->writes, i)};
    if (w->probed_status == 0)
        why.message = STR("another pod that would have to go with it may not");
    struct error e = dispatch_error(w, &why);
    dispatch_settle(d, i, h->now_ms, &e);
}

/* Once the server has said of all whether they would go: all do, or none. */
static void conclude_plan(struct dispatch *d, effect_id plan, const struct happening *h)
{
    bool may_go = true;
    vec_each(&d->writes.list, w) {
        if (w->state == WRITE_FREE || w->plan != plan)
            continue;
        if (!w->is_probed)
            return;
        may_go = may_go && w->probed_status == 0;
    }
    for (uint32_t i = 0; i < d->writes.list.n; i++)
        if (at(d, i)->state != WRITE_FREE && at(d, i)->plan == plan)
            (may_go ? start_eviction : call_off)(d, i, h);
}

void dispatch_probe_done(struct dispatch *d, uint32_t i, const struct happening *h)
{
    at(d, i)->is_probed = true;
    writes_set_state(&d->writes, i, WRITE_QUEUED);
    conclude_plan(d, at(d, i)->plan, h);
}

/* One that is gone is not in the way. */
void dispatch_probe_refused(struct dispatch *d, uint32_t i, const struct happening *h)
{
    bool is_gone = h->why->status == 404 || h->why->status == 409;
    at(d, i)->probed_status = is_gone ? 0 : h->why->status ? h->why->status : -1;
    writes_set_why(&d->writes, i, h->why->message);
    dispatch_probe_done(d, i, h);
}

/* --- how they end --- */

void dispatch_mark_done(struct dispatch *d, uint32_t i, const struct happening *h)
{
    at(d, i)->kind = WRITE_DELETE;
    at(d, i)->tries = at(d, i)->pauses = 0;
    dispatch_send(d, i, h);
}

void dispatch_delete_done(struct dispatch *d, uint32_t i, const struct happening *h)
{
    const struct write *w = at(d, i);
    buf_clear(&d->text);
    buf_printf(&d->text, "Preempted by pod " STR_FMT " on node " STR_FMT, STR_ARG(w->by_uid),
               STR_ARG(w->node));
    if (w->by_words.n)
        buf_printf(&d->text, ": " STR_FMT, STR_ARG(w->by_words));
    dispatch_add_event(d, w, EVENT_PREEMPTED, h->now_ms);
    d->stats.evicted++;
    dispatch_settle(d, i, h->now_ms, NULL);
}

/* One that is gone makes room, too; nobody has to be told. */
void dispatch_delete_refused(struct dispatch *d, uint32_t i, const struct happening *h)
{
    struct error why = dispatch_error(at(d, i), h->why);
    bool is_gone = h->why->status == 404 || h->why->status == 409;
    dispatch_settle(d, i, h->now_ms, is_gone ? NULL : &why);
}

/* A conflict may mean that many write to the pod, or that it is another one: deleting tells. */
void dispatch_mark_refused(struct dispatch *d, uint32_t i, const struct happening *h)
{
    (h->why->status == 409 ? dispatch_mark_done : dispatch_delete_refused)(d, i, h);
}

void dispatch_evict(struct dispatch *d, const struct effect *e, const struct happening *h)
{
    enum write_kind first = e->plan ? WRITE_PROBE : WRITE_MARK;
    uint32_t i = writes_add(&d->writes, first, e, NULL, e->by_scheduler);
    at(d, i)->generation = pending_generation(&d->pending, e->namespace, e->pod);
    dispatch_send(d, i, h);
}

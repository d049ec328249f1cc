#include "core/engine/step/step.h"

void engine_put_kueue(struct engine *k, const struct object *o, bool is_there)
{
    struct kueue *q = &k->cluster->kueue;
    struct names *names = &k->cluster->names;
    bool differs = false;
    if (o->kind == KIND_CLUSTER_QUEUE)
        differs = kueue_put_cluster(q, names, o->meta, is_there ? o->cluster_queue : NULL);
    else if (o->kind == KIND_LOCAL_QUEUE)
        differs = kueue_put_local(q, names, o->meta, is_there ? o->local_queue : NULL);
    else
        kueue_put_workload(q, names, o->meta, is_there ? o->kueue_workload : NULL);
    if (!differs)
        return;
    engine_review_boosts(k, SYM_NONE);
    engine_event(k, &(struct event){.resource = EVENT_ANY});
}

/* --- what is ours: Queues, and keys by which pods name them --- */

void engine_put_shares(struct engine *k, const struct object *o, bool is_there)
{
    if (!is_there)
        engine_remove_team(k, o->meta->name);
    else if (!engine_put_team(k, o->queue))
        return;
    engine_event(k, &(struct event){.resource = EVENT_ANY});
}

static void touch(void *ctx, uint32_t unit)
{
    engine_touch_line(ctx, unit);
}

void engine_settle_shares(struct engine *k)
{
    struct shares *s = k->shares;
    if (s->must_begin || engine_offers_more(k)) {
        struct engine_rules rules = k->config.rules;
        engine_configure(k, k->now_ms, &rules);
    }
    if (!s->tree)
        return;
    bool is_stale = s->is_stale;
    engine_renew_shares(k);
    s->is_stale = false;
    if (!is_stale)
        return;
    queue_each(k->queue, touch, k);
    engine_event(k, &(struct event){.resource = EVENT_ANY});
}

void engine_put_quota(struct engine *k, const struct object *o, bool is_there)
{
    struct cluster *c = k->cluster;
    bool differs = true;
    if (is_there)
        differs = quotas_put(&c->quotas, &c->names, o->resource_quota);
    else
        quotas_remove(&c->quotas, &c->names, o->meta);
    sym namespace = names_find(&c->names, o->meta->namespace);
    if (is_there && namespace != SYM_NONE)
        engine_bound_anew(k, namespace);
    if (differs)
        engine_retell_missing(k, namespace);
}

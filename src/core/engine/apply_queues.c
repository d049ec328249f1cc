#include "core/engine/inside.h"

void engine_put_queue(struct engine *k, int64_t now_ms, const struct object *o, bool is_there)
{
    struct queues *q = &k->cluster->queues;
    struct names *names = &k->cluster->names;
    bool differs = false;
    if (o->kind == KIND_CLUSTER_QUEUE)
        differs = queues_put_cluster(q, names, o->meta, is_there ? o->cluster_queue : NULL);
    else if (o->kind == KIND_LOCAL_QUEUE)
        differs = queues_put_local(q, names, o->meta, is_there ? o->local_queue : NULL);
    else
        queues_put_workload(q, names, o->meta, is_there ? o->kueue_workload : NULL);
    if (!differs)
        return;
    engine_review_boosts(k, SYM_NONE);
    engine_event(k, now_ms, &(struct event){.resource = EVENT_ANY});
}

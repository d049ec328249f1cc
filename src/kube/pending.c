#include "kube/pending.h"

#include "core/base/hash.h"
#include "core/base/spare.h"

uint64_t pod_key(struct str namespace, struct str pod)
{
    return hash_pair(str_hash_secretly(namespace), str_hash_secretly(pod));
}

uint64_t pending_mark(struct str reason, struct str message)
{
    return hash_pair(str_hash_secretly(reason), str_hash_secretly(message)) | 1;
}

uint64_t pending_nominee(struct str node)
{
    return node.n ? str_hash_secretly(node) >> 1 | 1 : 0;
}

static uint64_t told_of(const struct pod *pod)
{
    list_each(&pod->status.conditions, c)
        if (str_equal(c->type, STR("PodScheduled")) && str_equal(c->status, STR("False")))
            return pending_mark(c->reason, c->message);
    return 0;
}

static uint64_t number_of(struct str version)
{
    int64_t number;
    return str_int(version, &number) && number > 0 ? (uint64_t)number : 0;
}

static void forget(struct pending *p, uint64_t key)
{
    uint32_t row = map_remove(&p->by_name, key);
    if (row == MAP_NONE)
        return;
    intern_drop(&p->schedulers, p->rows.at[row].scheduler);
    p->rows.at[row].scheduler = INTERN_NONE;
    vec_push(&p->free, row);
}

static uint32_t new_row(struct pending *p)
{
    if (p->free.n)
        return vec_pop(&p->free);
    vec_push(&p->rows, (struct pending_row){0});
    return p->rows.n - 1;
}

void pending_see(struct pending *p, const struct change *change)
{
    if (change->object.kind != KIND_POD)
        return;
    const struct meta *meta = change->object.meta;
    uint64_t key = pod_key(meta->namespace, meta->name);
    forget(p, key);
    map_remove(&p->generation_of, key);
    if (change->kind == CHANGE_REMOVE)
        return;
    if (change->object.pod->spec.node_name.n) {
        if (meta->generation >= 0 && meta->generation < UINT32_MAX && meta->generation != 1)
            map_put(&p->generation_of, key, (uint32_t)meta->generation);
        return;
    }
    if (intern_wants_sweep(&p->schedulers))
        intern_sweep(&p->schedulers, NULL, NULL);
    const struct pod *pod = change->object.pod;
    uint32_t row = new_row(p);
    p->rows.at[row] = (struct pending_row){
        .uid = str_hash_secretly(meta->uid),
        .told = told_of(pod),
        .nominee = pending_nominee(pod->status.nominated_node_name),
        .version = number_of(meta->resource_version),
        .generation = meta->generation,
        .scheduler = intern_get(&p->schedulers, pod->spec.scheduler_name, NULL),
    };
    intern_hold(&p->schedulers, p->rows.at[row].scheduler);
    map_put(&p->by_name, key, row);
}

struct pending_row *pending_find(struct pending *p, struct str namespace, struct str pod,
                                 struct str uid)
{
    uint32_t row = map_find(&p->by_name, pod_key(namespace, pod));
    return row != MAP_NONE && p->rows.at[row].uid == str_hash_secretly(uid) ? &p->rows.at[row]
                                                                            : NULL;
}

int64_t pending_generation(const struct pending *p, struct str namespace, struct str pod)
{
    uint32_t found = map_find(&p->generation_of, pod_key(namespace, pod));
    return found == MAP_NONE ? 1 : found;
}

struct str pending_scheduler(const struct pending *p, const struct pending_row *row)
{
    return intern_bytes(&p->schedulers, row->scheduler);
}

void pending_trim(struct pending *p)
{
    while (p->rows.n && vec_last(&p->rows).scheduler == INTERN_NONE)
        p->rows.n--;
    vec_trim(&p->rows);
    spare_trim(&p->free, p->rows.n);
    map_trim(&p->by_name);
    map_trim(&p->generation_of);
    intern_sweep(&p->schedulers, NULL, NULL);
    intern_trim(&p->schedulers);
}

void pending_done(struct pending *p)
{
    map_done(&p->by_name);
    vec_done(&p->rows);
    vec_done(&p->free);
    intern_done(&p->schedulers);
    map_done(&p->generation_of);
}

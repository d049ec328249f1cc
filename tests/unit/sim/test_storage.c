#include "sim/storage.h"

#include "support/objects.h"
#include "support/test.h"

#define CLAIM                                                                                      \
    "{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'name':'c','namespace':'x',"    \
    "'uid':'u'},'spec':{'storageClassName':'s','resources':{'requests':{'storage':'1Gi'}}}}"
#define VOLUME                                                                                     \
    "{'apiVersion':'v1','kind':'PersistentVolume','metadata':{'name':'v'},'spec':{'capacity':{"    \
    "'storage':'1Gi'},'storageClassName':'s'},'status':{'phase':'Available'}}"

struct room {
    struct plan plan;
    struct arena mem;
    struct storage storage;
    struct buf log;
};

static void room_done(struct room *r)
{
    storage_done(&r->storage);
    vec_done(&r->plan.objects);
    arena_done(&r->mem);
    buf_done(&r->log);
}

static void open(struct room *r)
{
    vec_push(&r->plan.objects, object_of_json(&r->mem, CLAIM));
    vec_push(&r->plan.objects, object_of_json(&r->mem, VOLUME));
    storage_init(&r->storage, &r->plan);
}

static void note(void *ctx, const struct object *o)
{
    struct room *r = ctx;
    buf_printf(&r->log, STR_FMT, STR_ARG(o->meta->name));
    if (o->kind == KIND_PERSISTENT_VOLUME)
        buf_printf(&r->log, " of " STR_FMT "/" STR_FMT " " STR_FMT,
                   STR_ARG(o->persistent_volume->spec.claim_ref->namespace),
                   STR_ARG(o->persistent_volume->spec.claim_ref->name),
                   STR_ARG(o->persistent_volume->spec.claim_ref->uid));
    else
        buf_printf(&r->log, " has " STR_FMT, STR_ARG(o->persistent_volume_claim->spec.volume_name));
    list_each(&o->meta->annotations, a)
        buf_printf(&r->log, " " STR_FMT "=" STR_FMT, STR_ARG(a->key), STR_ARG(a->value));
    buf_add_char(&r->log, '\n');
}

TEST(storage, a_volume_that_is_told_whose_it_is_is_bound_to_the_claim)
{
    AUTO(room) r = {0};
    open(&r);
    struct patch patch = {
        .body = STR("\"spec\":{\"claimRef\":{\"namespace\":\"x\",\"name\":\"c\",\"uid\":\"u\"}}")};
    struct object_write write = {
        .kind = KIND_PERSISTENT_VOLUME, .name = STR("v"), .patches = &patch, .n_patches = 1};
    struct error e = {0};
    REQUIRE(storage_write(&r.storage, &write, note, &r, &e));
    EXPECT_STR(buf_str(&r.log), "v of x/c u\nc has v pv.kubernetes.io/bind-completed=yes\n");
    EXPECT(!r.plan.objects.at[1].persistent_volume->spec.claim_ref); /* the plan is as it was */
}

TEST(storage, a_claim_that_is_told_for_which_node_gets_a_new_volume)
{
    AUTO(room) r = {0};
    open(&r);
    struct patch patch = {.meta = STR("\"annotations\":{\"node\":\"n\"}")};
    struct object_write write = {.kind = KIND_PERSISTENT_VOLUME_CLAIM,
                                 .namespace = STR("x"),
                                 .name = STR("c"),
                                 .patches = &patch,
                                 .n_patches = 1};
    struct error e = {0};
    REQUIRE(storage_write(&r.storage, &write, note, &r, &e));
    EXPECT_STR(buf_str(&r.log),
               "pvc-x-c of x/c u\nc has pvc-x-c node=n pv.kubernetes.io/bind-completed=yes\n");
}

TEST(storage, what_is_not_there_is_not_written)
{
    AUTO(room) r = {0};
    open(&r);
    struct patch patch = {0};
    struct object_write write = {
        .kind = KIND_PERSISTENT_VOLUME, .name = STR("w"), .patches = &patch, .n_patches = 1};
    struct error e = {0};
    EXPECT(!storage_write(&r.storage, &write, note, &r, &e));
    EXPECT_TEXT(e.text, "PersistentVolume \"w\" not found");
}

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

static void note(void *ctx, enum change_kind kind, const struct object *o)
{
    struct room *r = ctx;
    buf_printf(&r->log, "%s" STR_FMT, kind == CHANGE_REMOVE ? "gone: " : "",
               STR_ARG(o->meta->name));
    if (o->kind == KIND_RESOURCE_CLAIM) {
        buf_printf(&r->log, " for %u%s\n", o->resource_claim->status.reserved_for.n,
                   o->resource_claim->status.allocation ? ", given" : "");
        return;
    }
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

#define RESERVED "'reservedFor':[{'resource':'pods','name':'a','uid':'1'}"
#define GIVEN    "'allocation':{'devices':{}}"

TEST(storage, who_ends_gives_its_devices_back)
{
    AUTO(room) r = {0};
    static const char *const claims[] = {"only",   GIVEN "," RESERVED "]",
                                         "shared", GIVEN "," RESERVED ",{'name':'b','uid':'2'}]",
                                         "others", GIVEN};
    for (size_t i = 0; i < LEN(claims); i += 2) {
        struct str json =
            arena_printf(&r.mem,
                         "{'apiVersion':'resource.k8s.io/v1','kind':'ResourceClaim','metadata':{"
                         "'name':'%s','namespace':'x'},'status':{%s}}%c",
                         claims[i], claims[i + 1], 0);
        vec_push(&r.plan.objects, object_of_json(&r.mem, json.p));
    }
    storage_init(&r.storage, &r.plan);
    storage_leave(&r.storage, STR("x"), STR("a"), note, &r);
    EXPECT_STR(buf_str(&r.log), "shared for 1, given\nonly for 0\n");
}

TEST(storage, a_claim_that_is_made_for_a_pod_goes_with_it)
{
    AUTO(room) r = {0};
    open(&r);
    struct patch patches[] = {
        {.verb = OBJECT_CREATE,
         .meta = STR("\"name\":\"m\",\"annotations\":{\"resource.kubernetes.io/"
                     "extended-resource-claim\":\"true\"},\"ownerReferences\":[{\"kind\":\"Pod\","
                     "\"name\":\"a\",\"uid\":\"1\",\"controller\":true}]"),
         .body = STR("\"kind\":\"ResourceClaim\"")},
        {.kind = KIND_POD, .name = STR("a"), .part = STR("status")},
        {.verb = OBJECT_PATCH,
         .body = STR("\"status\":{\"allocation\":{},\"reservedFor\":[{\"name\":\"a\"}]}")},
    };
    struct object_write write = {.kind = KIND_RESOURCE_CLAIM,
                                 .namespace = STR("x"),
                                 .name = STR("m"),
                                 .patches = patches,
                                 .n_patches = LEN(patches)};
    struct error e = {0};
    REQUIRE(storage_write(&r.storage, &write, note, &r, &e));
    storage_leave(&r.storage, STR("x"), STR("b"), note, &r);
    storage_leave(&r.storage, STR("x"), STR("a"), note, &r);
    storage_leave(&r.storage, STR("x"), STR("a"), note, &r);
    EXPECT_STR(buf_str(&r.log), "m for 1, given\ngone: m for 1, given\n");
}

TEST(storage, a_claim_may_be_removed)
{
    AUTO(room) r = {0};
    vec_push(&r.plan.objects,
             object_of_json(&r.mem, "{'apiVersion':'resource.k8s.io/v1','kind':'ResourceClaim',"
                                    "'metadata':{'name':'c','namespace':'x'}}"));
    storage_init(&r.storage, &r.plan);
    struct patch patch = {.verb = OBJECT_DELETE};
    struct object_write write = {.kind = KIND_RESOURCE_CLAIM,
                                 .namespace = STR("x"),
                                 .name = STR("c"),
                                 .patches = &patch,
                                 .n_patches = 1};
    struct error e = {0};
    REQUIRE(storage_write(&r.storage, &write, note, &r, &e));
    EXPECT_STR(buf_str(&r.log), "gone: c for 0\n");
    EXPECT(!storage_write(&r.storage, &write, note, &r, &e));
}

#include "core/model/mirror.h"

#include "support/objects.h"
#include "support/test.h"

/* The object that a patch creates, as it would be read again. */
static const struct reservation *stored(struct arena *mem, const struct patch *p)
{
    AUTO(buf) json = {0};
    buf_printf(&json, "{\"metadata\":{" STR_FMT "}," STR_FMT "}", STR_ARG(p->meta),
               STR_ARG(p->body));
    for (size_t i = 0; i < json.n; i++)
        json.p[i] = json.p[i] == '"' ? '\'' : json.p[i];
    return object_of_json(mem, json.p).reservation;
}

TEST(mirror, is_known_again_by_its_label)
{
    AUTO(arena) mem = {0};
    struct mirror m = {.namespace = STR("ns"), .name = STR("m"), .group = STR("g"), .seconds = 60};
    struct patch p = mirror_write(&m, &mem);
    const struct reservation *r = stored(&mem, &p);
    EXPECT_INT(p.verb, OBJECT_CREATE);
    EXPECT(reservation_is_mirror(r));
    EXPECT_STR(r->meta.name, "m");
    EXPECT_STR(r->meta.namespace, "ns");
    EXPECT(mirror_memory(r).p == NULL);
    struct object foreign = object_of_json(
        &mem,
        "{'apiVersion':'scheduling.kubenexus.io/v1alpha1','kind':'ResourceReservation',"
        "'metadata':{'name':'r','labels':{'app.kubernetes.io/managed-by':'helm'}},'spec':{}}");
    EXPECT(!reservation_is_mirror(foreign.reservation));
}

TEST(mirror, of_a_group_with_a_long_name_has_no_labels_of_it)
{
    AUTO(arena) mem = {0};
    static const char name[65] = "0123456789012345678901234567890123456789012345678901234567890123";
    struct mirror m = {.namespace = STR("ns"), .name = STR("m"), .group = str_of(name)};
    struct patch p = mirror_write(&m, &mem);
    EXPECT_INT(stored(&mem, &p)->meta.labels.n, 1);
    m.group = str_part(m.group, 0, 63);
    p = mirror_write(&m, &mem);
    EXPECT_INT(stored(&mem, &p)->meta.labels.n, 3);
}

TEST(mirror, of_what_was_learned_holds_nothing_and_says_it)
{
    AUTO(arena) mem = {0};
    struct patch p = mirror_write_memory(STR("ns"), STR("run-times"), STR("1 5 AAAA"), &mem);
    const struct reservation *r = stored(&mem, &p);
    EXPECT(reservation_is_mirror(r));
    EXPECT_STR(mirror_memory(r), "1 5 AAAA");
    EXPECT_STR(mirror_memory_patch(STR("x"), &mem),
               "\"annotations\":{\"scheduling.kubenexus.io/run-times\":\"x\"}");
}

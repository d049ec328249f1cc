#include "core/cluster/extended.h"

#include "core/cluster/read.h"
#include "support/ground.h"
#include "support/test.h"

#define CLASS(name, resource)                                                                      \
    "{'apiVersion':'resource.k8s.io/v1','kind':'DeviceClass','metadata':{'name':'" name            \
    "'},'spec':{'extendedResourceName':'" resource "'}}"

/* "REQUEST=COUNT of CLASS; …| CONTAINER RESOURCE REQUEST; …" of a pod that leaves it all to
 * devices.
 */
static struct str claim_of(struct ground *g, const char *line)
{
    struct cluster *c = ground_cluster(g);
    sym pin;
    struct object class = object_of(&g->mem, CLASS("gpu", "e/x")),
                  other = object_of(&g->mem, CLASS("nic", "e/a"));
    devices_put(c, &class);
    devices_put(c, &other);
    shape_id shape = read_pod_shape(c, object_of(&g->mem, line).pod, &pin);
    const struct spec *spec = specs_at(&c->specs, c->pods.shapes.at[shape].spec);
    struct backed_set set = extended_backed(c, spec, &g->mem);
    const struct resource_claim *claim = extended_claim(spec, set, ~0u, STR("default"), &g->mem);
    AUTO(buf) text = {0};
    list_each(&claim->spec.requests, r)
        buf_printf(&text, STR_FMT "=%lld of " STR_FMT "; ", STR_ARG(r->name),
                   (long long)r->exactly->count, STR_ARG(r->exactly->class));
    buf_add(&text, STR("| "));
    request_mapping_list uses = extended_mappings(c, spec, set, ~0u, &g->mem);
    list_each(&uses, u)
        buf_printf(&text, STR_FMT " " STR_FMT " " STR_FMT "; ", STR_ARG(u->container),
                   STR_ARG(u->resource), STR_ARG(u->request));
    return arena_str(&g->mem, buf_str(&text));
}

TEST(extended, each_container_asks_for_its_own_and_init_containers_use_what_later_ones_have)
{
    static const struct {
        const char *pod, *claim;
    } cases[] = {
        {"pod a cpu=1 e/x=2", "container-0-request-1=2 of gpu; | main e/x container-0-request-1; "},
        {"pod a e/x=1 e/a=3", "container-0-request-0=3 of nic; container-0-request-1=1 of gpu; | "
                              "main e/a container-0-request-0; main e/x container-0-request-1; "},
        {"pod a e/x=2000m", "| "},
        {"pod a e/x=2 init e/x=3000m",
         "container-1-request-0=2 of gpu; | main e/x container-1-request-0; "},
        {"pod a e/x=2000m init e/x=1",
         "container-0-request-0=1 of gpu; | init-0 e/x container-0-request-0; "},
        {"pod a e/none=1", "| "},
        {"pod a e/x=2 init e/x=1",
         "container-1-request-0=2 of gpu; | main e/x container-1-request-0; "
         "init-0 e/x container-1-request-0; "},
        {"pod a e/x=2 init e/x=5 init e/x=6",
         "container-1-request-0=4 of gpu; container-2-request-0=2 of gpu; | "
         "main e/x container-2-request-0; "
         "init-0 e/x container-2-request-0; init-0 e/x container-1-request-0; "
         "init-1 e/x container-2-request-0; init-1 e/x container-1-request-0; "},
        {"pod a e/x=1 sidecar e/x=2",
         "container-0-request-0=2 of gpu; container-1-request-0=1 of gpu; | "
         "init-0 e/x container-0-request-0; main e/x container-1-request-0; "},
        {"pod a e/x=1 sidecar e/x=2 init e/x=1",
         "container-0-request-0=2 of gpu; container-2-request-0=1 of gpu; | "
         "init-0 e/x container-0-request-0; main e/x container-2-request-0; "
         "init-1 e/x container-2-request-0; "},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(ground) g = {0};
        test_case("%s", cases[i].pod);
        struct str got = claim_of(&g, cases[i].pod);
        EXPECT_STR(got, cases[i].claim);
    }
}

TEST(extended, a_claim_is_called_as_a_server_would_call_it)
{
    struct arena mem = {0};
    struct str pod = STR("a-name-that-is-so-long-that-its-claims-are-not-called-by-all-of-it");
    struct str name = extended_name(STR("p"), STR("u"), 1, &mem);
    EXPECT(str_starts(name, STR("p-extended-resources-")) && name.n == 26);
    EXPECT(str_equal(name, extended_name(STR("p"), STR("u"), 1, &mem)));
    EXPECT(!str_equal(name, extended_name(STR("p"), STR("u"), 2, &mem)));
    EXPECT(!str_equal(name, extended_name(STR("p"), STR("v"), 1, &mem)));
    EXPECT_INT(extended_name(pod, STR("u"), 1, &mem).n, 63);
    arena_done(&mem);
}

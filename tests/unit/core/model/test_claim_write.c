#include "core/model/claim_write.h"

#include "core/model/patch.h"
#include "core/model/tables.h"
#include "core/wire/json_read.h"
#include "support/test.h"

TEST(claim_write, what_is_written_reads_back_as_the_same)
{
    struct str conditions[] = {STR("Attached")}, failures[] = {STR("Broken")},
               names[] = {STR("n1")};
    struct device_toleration tolerations[] = {
        {.key = STR("k"), .op = STR("Exists"), .has_seconds = true, .seconds = 7},
    };
    struct amount consumed[] = {
        {STR("memory"), {.nano = 1500000000, .scale = -9}},
    };
    struct device_result results[] = {
        {.request = STR("r/s"),
         .driver = STR("d"),
         .pool = STR("a \"quoted\" pool"),
         .device = STR("d0"),
         .is_admin = true,
         .tolerations = {tolerations, 1},
         .binding_conditions = {conditions, 1},
         .binding_failure_conditions = {failures, 1},
         .share_id = STR("id"),
         .consumed = {consumed, 1}},
        {.request = STR("r"), .driver = STR("d"), .pool = STR("p"), .device = STR("d1")},
    };
    struct requirement field = {STR("metadata.name"), STR("In"), {names, 1}};
    struct node_selector_term term = {.match_fields = {&field, 1}};
    struct node_selector selector = {.terms = {&term, 1}};
    struct device_allocation given = {
        .results = {results, 2}, .node_selector = &selector, .allocated_ms = TIME_NONE};
    struct arena mem = {0};
    struct claim_consumer pod = {.resource = STR("pods"), .name = STR("a"), .uid = STR("u")};
    struct str body = claim_write_status(&given, pod, &mem);
    struct str text = arena_printf(&mem, "{" STR_FMT "}", STR_ARG(body));
    struct resource_claim read = {0}, wanted = {0};
    struct error e = {0};
    size_t where;
    REQUIRE(json_read(text, resource_claim_fields, &read, &mem, &where, &e));
    wanted.status.allocation = &given;
    wanted.status.reserved_for.at = &pod;
    wanted.status.reserved_for.n = 1;
    wanted.meta = read.meta;
    read.status.allocation->results.at[0].consumed.at[0].quantity.scale = -9;
    EXPECT(fields_equal(resource_claim_fields, &read, &wanted));
    arena_done(&mem);
}

TEST(claim_write, configuration_goes_with_the_devices)
{
    struct str requests[] = {STR("r")};
    struct device_config config = {.driver = STR("d"), .parameters = STR("{\"level\":3}")};
    struct given_config all[] = {
        {true, {0}, &config},
        {false, {requests, 1}, &config},
    };
    struct device_allocation given = {.config = {all, 2}, .allocated_ms = TIME_NONE};
    struct arena mem = {0};
    struct claim_consumer pod = {.resource = STR("pods"), .name = STR("a"), .uid = STR("u")};
    EXPECT_STR(claim_write_status(&given, pod, &mem),
               "\"status\":{\"allocation\":{\"devices\":{\"results\":[],\"config\":[{\"source\":"
               "\"FromClass\",\"opaque\":{\"driver\":\"d\",\"parameters\":{\"level\":3}}},{"
               "\"source\":\"FromClaim\",\"requests\":[\"r\"],\"opaque\":{\"driver\":\"d\","
               "\"parameters\":{\"level\":3}}}]}},\"reservedFor\":[{\"resource\":\"pods\",\"name\":"
               "\"a\",\"uid\":\"u\"}]}");
    arena_done(&mem);
}

TEST(claim_write, the_finalizer_is_known_again)
{
    struct arena mem = {0};
    struct str finalizers[] = {STR("other"), STR(CLAIM_FINALIZER)};
    struct resource_claim claim = {.meta.finalizers = {finalizers, 1}};
    EXPECT(!claim_has_finalizer(&claim));
    claim.meta.finalizers.n = 2;
    EXPECT(claim_has_finalizer(&claim));
    EXPECT_STR(claim_write_finalizer(&mem), "\"finalizers\":[\"" CLAIM_FINALIZER "\"]");
    claim.meta.uid = STR("u");
    EXPECT_STR(patch_uid(claim.meta.uid, &mem), "\"uid\":\"u\"");
    arena_done(&mem);
}

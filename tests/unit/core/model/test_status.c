#include "core/model/status.h"

#include "support/objects.h"
#include "support/test.h"

static uint64_t hash_of(struct arena *mem, const char *text)
{
    struct object o = object_of(mem, text);
    struct object_status s = object_status_of(&o);
    return object_status_hash(&s);
}

#define GROUP(status)                                                                              \
    "{'kind':'PodGroup','apiVersion':'scheduling.volcano.sh/v1beta1','metadata':{'name':'g',"      \
    "'namespace':'default'},'spec':{'minMember':2},'status':{" status "}}"

TEST(status, says_the_same_whenever_it_was_said_and_whatever_others_say)
{
    struct arena mem = {0};
    uint64_t is = hash_of(
        &mem, GROUP("'phase':'Running','conditions':[{'type':'Scheduled','status':'True'}]"));
    EXPECT(is ==
           hash_of(
               &mem,
               GROUP("'phase':'Running','running':3,'conditions':[{'type':'Other'},{'type':"
                     "'Scheduled','status':'True','lastTransitionTime':'2026-01-01T00:00:00Z'}]")));
    EXPECT(is !=
           hash_of(&mem,
                   GROUP("'phase':'Inqueue','conditions':[{'type':'Scheduled','status':'True'}]")));
    EXPECT(
        is !=
        hash_of(&mem,
                GROUP("'phase':'Running','conditions':[{'type':'Scheduled','status':'False'}]")));
    EXPECT(is != hash_of(&mem, GROUP("'phase':'Running'")));
    arena_done(&mem);
}

TEST(status, is_written_with_what_the_kind_has)
{
    struct arena mem = {0};
    struct object_status s = {.phase = STR("Inqueue")};
    EXPECT_STR(object_status_text(KIND_VOLCANO_POD_GROUP, &s, &mem),
               "\"status\":{\"phase\":\"Inqueue\"}");
    struct object_status r = {
        .held = 1,
        .entries = 2,
        .pods = {(struct pair[]){{STR("a"), STR("p\"")}, {STR("b"), STR("")}}, 2}};
    EXPECT_STR(object_status_text(KIND_RESERVATION, &r, &mem),
               "\"status\":{\"entries\":2,\"held\":1,\"pods\":{\"a\":\"p\\\"\",\"b\":null}}");
    arena_done(&mem);
}

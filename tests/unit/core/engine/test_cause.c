#include "core/engine/cause.h"
#include "core/engine/inside.h"
#include "support/stage.h"
#include "support/test.h"

#define GANG(name, min, rest) "pod " name " gang=a:" #min " " rest
#define IN_ONE_RACK           "note:scheduling.kubenexus.io/required-topology=rack"

/* A cluster and a gang, and the first sentence of what the gang is told. */
static const struct {
    const char *objects[8];
    const char *first;
} stories[] = {
    {{"node n1 cpu=8 example.com/gpu=8", GANG("p", 2, "example.com/gpuu=1"),
      GANG("q", 2, "example.com/gpuu=1")},
     "no node offers example.com/gpuu (nearest: example.com/gpu); each pod of gang a wants 1 "
     "example.com/gpuu"                                                                         },
    {{"node n1 cpu=8 gpu=8", "node n2 cpu=8 gpu=4", GANG("p", 2, "gpu=16"), GANG("q", 2, "gpu=16")},
     "no node has more than 8 nvidia.com/gpu; each pod of gang a wants 16 nvidia.com/gpu"       },
    {{"node n1 cpu=8 gpu=0", "node n2 cpu=1 gpu=4", GANG("p", 2, "cpu=4 gpu=2"),
      GANG("q", 2, "cpu=4 gpu=2")},
     "no node is large enough for one pod: gang a needs 2 x (2 nvidia.com/gpu, 4 cpu)"          },
    {{"node n1 cpu=8", "node n2 cpu=8", GANG("p", 2, "cpu=6"), GANG("q", 2, "cpu=6"),
      GANG("r", 3, "cpu=6")},
     "gang a needs 3 x (6 cpu); 2 fit now; short of 6 cpu; the nodes hold 2, even when empty"   },
    {{"node n1 cpu=8 label:accelerator=h100", GANG("p", 2, "cpu=1 select:acelerator=h100"),
      GANG("q", 2, "cpu=1 select:acelerator=h100")},
     "no node has the label acelerator, which gang a selects; nearest: accelerator"             },
    {{"node n1 cpu=8 label:pool=train", "node n2 cpu=8 label:pool=serve",
      GANG("p", 2, "cpu=1 select:pool=trian"), GANG("q", 2, "cpu=1 select:pool=trian")},
     "no node has pool=trian, which gang a selects; nearest: train"                             },
    {{"node n1 cpu=8 label:pool=a", "node n2 cpu=8", GANG("p", 2, "cpu=6 require:pool:In:a"),
      GANG("q", 2, "cpu=6 require:pool:In:a")},
     "1 of 2 nodes has pool=a, which gang a selects; room for 1 of 2 pods"                      },
    {{"node n1 cpu=8 taint:team=x:NoSchedule", "node n2 cpu=8", GANG("p", 2, "cpu=6"),
      GANG("q", 2, "cpu=6")},
     "gang a does not tolerate the taint team=x:NoSchedule of 1 node; the other 1 node has room "
     "for 1 of 2 pods"                                                                          },
    {{"node n1 cpu=8 cordoned", "node n2 cpu=8 cordoned", GANG("p", 2, "cpu=6"),
      GANG("q", 2, "cpu=6")},
     "2 nodes that would do are cordoned"                                                       },
    {{"node n1 cpu=4 label:rack=r1", "node n2 cpu=4 label:rack=r2", "node n3 cpu=8 label:rack=r2",
      GANG("p", 4, "cpu=4 " IN_ONE_RACK), GANG("q", 4, "cpu=4 " IN_ONE_RACK),
      GANG("r", 4, "cpu=4 " IN_ONE_RACK), GANG("s", 4, "cpu=4 " IN_ONE_RACK)},
     "gang a wants 4 pods in one domain (rack); the largest, r2, holds 3 even when empty: never"},
    {{"node n1 cpu=8 label:rack=r1", "node n2 cpu=4 label:rack=r2", "pod x cpu=4 on=n1",
      GANG("p", 2, "cpu=4 " IN_ONE_RACK), GANG("q", 2, "cpu=4 " IN_ONE_RACK)},
     "gang a wants 2 pods in one domain (rack); r1 has most room: 1 now"                        },
    {{"node n1 cpu=8", "pod x cpu=7 on=n1", GANG("p", 2, "cpu=4"), GANG("q", 2, "cpu=4")},
     "gang a needs 2 x (4 cpu); 0 fit now; short of 8 cpu"                                      },
    {{"node n1 cpu=8 gpu=8", "node n2 cpu=64", "pod x cpu=7 on=n1", GANG("p", 2, "gpu=1 cpu=4"),
      GANG("q", 2, "gpu=1 cpu=4")},
     "gang a needs 2 x (1 nvidia.com/gpu, 4 cpu); 0 fit now; 1 node with the rest free has too "
     "little cpu"                                                                               },
};

static struct str first_sentence(struct str text)
{
    size_t end = 0;
    while (end < text.n && !(text.p[end] == '.' && end + 1 < text.n && text.p[end + 1] == ' '))
        end++;
    return str_part(text, 0, end);
}

TEST(cause, the_first_sentence_is_what_keeps_the_gang_from_starting)
{
    for (size_t i = 0; i < LEN(stories); i++) {
        AUTO(stage) s = {0};
        const char *const *o = stories[i].objects;
        for (size_t n = 0; n < LEN(stories[i].objects) && o[n]; n++)
            stage_put(&s, "%s", o[n]);
        stage_run(&s);
        const struct effect *e = stage_effect(&s, "p");
        REQUIRE(e && e->kind == EFFECT_REFUSE);
        struct str first = first_sentence(e->message);
        EXPECT_STR(first, stories[i].first);
        EXPECT(first.n <= CAUSE_BYTES_MOST);
    }
}

/* What a rule leaves is what the next one is asked about. */
TEST(cause, the_funnel_has_the_nodes_that_each_rule_leaves)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=1");
    stage_put(&s, "node n2 cpu=8 taint:t=v:NoSchedule");
    stage_put(&s, "node n3 cpu=8");
    stage_put(&s, "pod x cpu=6 on=n3");
    stage_put(&s, "pod p cpu=4 gang=a:2");
    stage_put(&s, "pod q cpu=4 gang=a:2");
    struct effects said = {0};
    uint32_t group = engine_gang_of(
        s.engine, pods_find(&s.engine->cluster->pods,
                            names_find(&s.engine->cluster->names, STR("default")), STR("p")));
    struct cause_steps steps;
    EXPECT(engine_try_gang(s.engine, group, &said) == GANG_HOPELESS);
    engine_list_funnel(s.engine, group, &steps);
    REQUIRE(steps.n == 3);
    EXPECT(steps.at[0].rule == CAUSE_OFFER && steps.at[0].nodes == 2 && steps.at[0].pods == 2);
    EXPECT(steps.at[1].rule == CAUSE_TAINT && steps.at[1].nodes == 1 && steps.at[1].pods == 2);
    EXPECT(steps.at[2].rule == CAUSE_ROOM && steps.at[2].nodes == 0 && steps.at[2].pods == 0);
    effects_done(&said);
}

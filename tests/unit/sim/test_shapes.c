#include "core/model/hardware.h"
#include "support/test.h"
#include "unit/sim/story.h"

TEST(shapes, machines_have_what_their_labels_say)
{
    static const struct {
        const char *shape;
        uint32_t gpus, zones;
        int64_t vram_gib;
        enum fabric links;
        enum hardware_tier tier;
    } cases[] = {
        {"hgx-h100", 8, 2, 79, FABRIC_NVSWITCH, HARDWARE_PREMIUM},
        {"hgx-h200", 8, 2, 140, FABRIC_NVSWITCH, HARDWARE_PREMIUM},
        {"hgx-b200", 8, 2, 179, FABRIC_NVSWITCH, HARDWARE_PREMIUM},
        {"dgx-a100", 8, 8, 80, FABRIC_NVSWITCH, HARDWARE_PREMIUM},
        {"l40s-pcie", 8, 2, 44, FABRIC_UNKNOWN, HARDWARE_ECONOMY},
        {"gb200-nvl72", 4, 2, 185, FABRIC_NVSWITCH, HARDWARE_PREMIUM},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(story) s = {0};
        char text[100];
        snprintf(text, sizeof(text), "nodes: [{name: m, count: 20, shape: %s}]\n", cases[i].shape);
        REQUIRE(story_open(&s, text, 1));
        struct hardware_room room;
        struct misreads misread = {0};
        const struct hardware *h = hardware_read(s.plan.nodes.at[0].node, &room, &misread);
        EXPECT_INT(misread.n, 0);
        EXPECT_INT(h->gpus, cases[i].gpus);
        EXPECT_INT(h->n_zones, cases[i].zones);
        EXPECT_INT(h->vram_bytes >> 30, cases[i].vram_gib);
        EXPECT_INT(h->links, cases[i].links);
        EXPECT_INT(h->tier, cases[i].tier);
        EXPECT(h->knows_gpu_zones);
        vec_done(&misread);
    }
}

TEST(shapes, a_rack_of_nvl72_is_a_clique)
{
    AUTO(story) s = {0};
    REQUIRE(story_open(&s, "nodes: [{name: g, count: 36, shape: gb200-nvl72}]\n", 1));
    const char *expect[] = {"g-r0.0", "g-r1.0"};
    for (uint32_t i = 0; i < 36; i++) {
        const struct node *node = s.plan.nodes.at[i].node;
        list_each(&node->meta.labels, label) {
            if (str_equal(label->key, STR(LABEL_CLIQUE)))
                EXPECT_STR(label->value, expect[i / 18]);
        }
    }
}

TEST(shapes, what_the_file_says_wins_and_unknown_machines_are_refused)
{
    AUTO(story) s = {0};
    REQUIRE(story_open(&s, "nodes: [{name: m, shape: hgx-h100, gpus: 4, cpu: 8}]\n", 1));
    const struct scenario_nodes *n = &s.scenario.nodes.at[0];
    EXPECT_INT(n->gpus, 4);
    EXPECT_INT((int64_t)(n->cpu.nano / 1000000000), 8);
    struct scenario other = {0};
    struct error e = {0};
    EXPECT(!scenario_read(&other, "f", STR("nodes: [{name: m, shape: cray-1}]\n"), &e));
    EXPECT(strstr(e.text, "shape: is none of hgx-h100, hgx-h200"));
}

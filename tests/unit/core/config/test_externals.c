/* Plugins that a configuration brings along. */

#include <kubenexus/plugin.h>

#include "core/plugins/external.h"
#include "read.h"
#include "support/stage.h"

/* Refuses nodes with less left than twice what the pod asks for, unless it is labelled easy; likes
 * nodes by the number of their label likes. */
struct choosy {
    int64_t cpu;
    bool is_easy;
};

static bool learn(const struct kn_host *host, const struct kn_pod *pod, struct kn_text args,
                  void *state)
{
    struct choosy *c = state;
    c->cpu = host->pod_asks(pod, "cpu");
    c->is_easy = host->pod_label(pod, "easy").p;
    EXPECT(!host->pod_label(pod, "app").p); /* which it did not say it reads */
    return args.n == 0 || !memmem(args.p, args.n, "nothing", 7);
}

static unsigned filter(const struct kn_host *host, const void *state, const struct kn_node *node)
{
    const struct choosy *c = state;
    return !c->is_easy && host->node_left(node, "cpu") < 2 * c->cpu ? 2 : 0;
}

static int64_t score(const struct kn_host *host, const void *state, const struct kn_node *node)
{
    struct kn_text likes = host->node_label(node, "likes");
    (void)state;
    return likes.p ? likes.p[0] - '0' : 0;
}

static const char *const labels[] = {"easy", NULL};
static const char *const reasons[] = {"node(s) were not nice", "node(s) had little left", NULL};

static const struct kn_plugin choosy = {
    .version = KN_PLUGIN_VERSION,
    .name = "Choosy",
    .summary = "Is choosy.",
    .pod_labels = labels,
    .reasons = reasons,
    .reads_room = true,
    .state_size = sizeof(struct choosy),
    .learn = learn,
    .filter = filter,
    .score = score,
};

#define HEAD                                                                                       \
    "apiVersion: kubescheduler.config.k8s.io/v1\n"                                                 \
    "kind: KubeSchedulerConfiguration\n"
#define CHOOSY                                                                                     \
    HEAD "profiles:\n"                                                                             \
         "- plugins: {multiPoint: {enabled: [{name: Choosy, weight: 9}]}}\n"                       \
         "  pluginConfig: [{name: Choosy, args: {library: /lib/choosy.so, more: %s}}]\n"

/* Reads as the program does, which has loaded what is named. */
static bool read_with(struct scheduler_config *c, struct str text, const char *error)
{
    struct externals externals = {0};
    scheduler_config_externals(text, &c->mem, &externals);
    vec_each(&externals, external) {
        struct plugin *plugin = arena_alloc(&c->mem, sizeof(*plugin));
        *plugin = external_plugin(&choosy);
        external->plugin = error ? NULL : plugin;
        external->error = error;
        external->table = &choosy;
    }
    bool is_valid = scheduler_config_read_with(c, text, &externals);
    vec_done(&externals);
    return is_valid;
}

TEST(externals, filter_and_score_like_those_that_are_built_in)
{
    AUTO(scheduler_config) c = {0};
    AUTO(buf) text = {0};
    buf_printf(&text, CHOOSY, "words");
    REQUIRE(read_with(&c, buf_str(&text), NULL));
    AUTO(stage) s = {.config = config_engine(&c)};
    stage_put(&s, "node n1 cpu=4 label:likes=1");
    stage_put(&s, "node n2 cpu=4 label:likes=5");
    stage_put(&s, "pod a cpu=2 label:app=x"); /* the weight decides */
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "a"), "assumed on n2");
    stage_put(&s, "pod b cpu=2 label:app=x"); /* n2 has less than twice that left */
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "b"), "assumed on n1");
    stage_put(&s, "pod c cpu=2 label:app=x");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "c"), "parked");
    stage_put(&s, "pod d cpu=2 label:easy=yes"); /* of another class for its label */
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "d"), "assumed on n2");
    stage_put(&s, "node n3 cpu=4"); /* wakes who was refused */
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "c"), "assumed on n3");
}

TEST(externals, may_have_nothing_to_say)
{
    AUTO(scheduler_config) c = {0};
    AUTO(buf) text = {0};
    buf_printf(&text, CHOOSY, "nothing"); /* the arguments are the external plugin's own */
    REQUIRE(read_with(&c, buf_str(&text), NULL));
    AUTO(stage) s = {.config = config_engine(&c)};
    stage_put(&s, "node n1 cpu=2");
    stage_put(&s, "pod a cpu=2");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "a"), "assumed on n1");
}

TEST(externals, that_cannot_be_had_are_one_error)
{
    AUTO(scheduler_config) c = {0};
    AUTO(buf) text = {0};
    buf_printf(&text, CHOOSY, "words");
    EXPECT(!read_with(&c, buf_str(&text), "/lib/choosy.so: is too old"));
    REQUIRE(c.errors.n == 1);
    EXPECT_INT(c.errors.at[0].line, 5);
    EXPECT_STR(c.errors.at[0].path, "profiles[0].pluginConfig[0].args.library");
    EXPECT_STR(c.errors.at[0].text, "/lib/choosy.so: is too old");
}

TEST(externals, are_named_by_a_library_and_not_by_what_is_built_in)
{
    static const struct {
        const char *text;
        uint32_t n;
    } cases[] = {
        {"profiles: [{pluginConfig: [{name: A, args: {library: /a.so}}, "
         "{name: B, args: {library: /b.so}}]}]",
         2},
        {"profiles: [{schedulerName: one, pluginConfig: [{name: A, args: {library: /a.so}}]}, "
         "{schedulerName: two, pluginConfig: [{name: A, args: {library: /a.so}}]}]",
         1},
        {"profiles: [{pluginConfig: [{name: A, args: {}}]}]", 0},
        {"profiles: [{pluginConfig: [{name: A, args: {library: [1]}}]}]", 0},
        {"profiles: [{pluginConfig: [{name: NodeAffinity, args: {library: /a.so}}]}]", 0},
        {"profiles: [", 0},
        {"", 0},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(arena) mem = {0};
        AUTO(buf) text = {0};
        struct externals externals = {0};
        test_case("%s", cases[i].text);
        buf_printf(&text, HEAD "%s\n", cases[i].text);
        scheduler_config_externals(buf_str(&text), &mem, &externals);
        EXPECT_INT(externals.n, cases[i].n);
        vec_done(&externals);
    }
}

TEST(externals, of_another_version_or_without_sense_are_refused)
{
    struct kn_plugin of[7];
    static const char *const wanted[LEN(of)] = {
        NULL,
        "is built for version 2 of the plugin interface, this is 1",
        "has the plugin \"Chosen\", not \"Choosy\"",
        "filters, and names no reason",
        "neither filters nor scores",
        "has no summary, more than 16 reasons, or more than 64 KiB to keep of a class",
        "has no summary, more than 16 reasons, or more than 64 KiB to keep of a class",
    };
    AUTO(arena) mem = {0};
    for (size_t i = 0; i < LEN(of); i++)
        of[i] = choosy;
    of[1].version++;
    of[2].name = "Chosen";
    of[3].reasons = NULL;
    of[4].filter = NULL;
    of[4].score = NULL;
    of[5].summary = NULL;
    of[6].state_size = 1 << 20;
    for (size_t i = 0; i < LEN(of); i++)
        EXPECT_TEXT(external_check(&of[i], STR("Choosy"), &mem), wanted[i]);
}

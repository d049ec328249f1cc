#include "kube/write.h"

#include "support/test.h"

static bool has(struct str body, const char *text)
{
    return memmem(body.p, body.n, text, strlen(text)) != NULL;
}

TEST(write, what_is_handed_over_goes_with_the_binding_over_the_version_we_know)
{
    struct pair told[] = {
        {STR("kubenexus.io/gpus"), STR("0,2")},
    };
    static const struct pending_row row = {.version = 4711};
    for (int is_told = 0; is_told < 3; is_told++) {
        struct writes all = {0};
        struct requests out = {0};
        struct effect e = {.id = 1,
                           .kind = EFFECT_BIND,
                           .namespace = STR("default"),
                           .pod = STR("p"),
                           .uid = STR("u"),
                           .node = STR("n"),
                           .annotations = {told, is_told > 0},
                           .is_exact = is_told > 1};
        test_case("%d", is_told);
        uint32_t i = writes_add(&all, WRITE_BIND, &e, &row, STR("kubenexus-scheduler"));
        struct request r = write_request(&all, i, 0, &out);
        EXPECT(has(r.body, "kubenexus.io/gpus") == (is_told > 0));
        EXPECT(has(r.body, "0,2") == (is_told > 0));
        EXPECT(has(r.body, "4711") == (is_told > 1)); /* others need not be what we know */
        writes_remove(&all, i);
        writes_done(&all);
        requests_done(&out);
    }
}

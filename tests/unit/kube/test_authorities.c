#include "kube/authorities.h"

#include "desk.h"
#include "support/test.h"

struct scene {
    struct desk desk;
    struct authorities authorities;
    struct str pem;
    struct trouble trouble;
};

static void open(struct scene *s)
{
    desk_init(&s->desk);
    authorities_init(&s->authorities, 100);
    authorities_ask(&s->authorities, &s->desk.out);
    authorities_ask(&s->authorities, &s->desk.out); /* one is under way */
}

static void scene_done(struct scene *s)
{
    authorities_done(&s->authorities);
    desk_done(&s->desk);
}

static enum authorities_result answer(struct scene *s, int status, const char *body)
{
    struct reply replies[] = {reply_head(101, status), reply_data(101, body), reply_end(101)};
    enum authorities_result result = AUTHORITIES_NOTHING;
    for (size_t i = 0; i < LEN(replies); i++) {
        EXPECT_INT(result, AUTHORITIES_NOTHING);
        result = authorities_hear(&s->authorities, &replies[i], &s->pem, &s->trouble);
    }
    return result;
}

TEST(authorities, are_a_key_of_a_config_map)
{
    AUTO(scene) s = {0};
    open(&s);
    EXPECT_TEXT(desk_log(&s.desk), "READ GET /api/v1/namespaces/kube-system/configmaps/"
                                   "extension-apiserver-authentication\n");
    EXPECT_INT(answer(&s, 200,
                      "{\"kind\":\"ConfigMap\",\"data\":{\"client-ca-file\":\"-----BEGIN\\nx\","
                      "\"requestheader-client-ca-file\":\"y\"}}"),
               AUTHORITIES_TOLD);
    EXPECT_STR(s.pem, "-----BEGIN\nx");
    EXPECT_INT(answer(&s, 200, "{}"), AUTHORITIES_NOTHING); /* nobody asked */
    authorities_ask(&s.authorities, &s.desk.out);
    EXPECT_INT(s.desk.out.list.n, 1);
}

TEST(authorities, may_be_none_or_not_ours_to_know)
{
    static const struct {
        int status;
        const char *body;
        enum authorities_result result;
    } cases[] = {
        {200, "{\"data\":{}}", AUTHORITIES_TOLD},
        {200, "{}", AUTHORITIES_TOLD},
        {200, "{\"data\":[]}", AUTHORITIES_FAILED},
        {403, "{\"kind\":\"Status\",\"code\":403,\"message\":\"no\"}", AUTHORITIES_FAILED},
        {404, "{\"kind\":\"Status\",\"code\":404}", AUTHORITIES_FAILED},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("case %zu", i);
        AUTO(scene) s = {0};
        open(&s);
        EXPECT_INT(answer(&s, cases[i].status, cases[i].body), cases[i].result);
        EXPECT_STR(s.pem, "");
    }
    AUTO(scene) s = {0};
    open(&s);
    struct reply lost = reply_lost(101, false);
    EXPECT_INT(authorities_hear(&s.authorities, &lost, &s.pem, &s.trouble), AUTHORITIES_FAILED);
    EXPECT_INT(s.trouble.status, 0);
}

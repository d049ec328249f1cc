#include "kube/review.h"

#include "desk.h"
#include "support/test.h"

struct scene {
    struct desk desk;
    struct reviews reviews;
    struct buf told;
    request_id last;
};

static void answered(void *ctx, review_ticket ticket, enum review_verdict verdict, struct str user)
{
    static const char *const words[] = {
        [REVIEW_ALLOWED] = "allowed", [REVIEW_STRANGER] = "stranger", [REVIEW_DENIED] = "denied",
        [REVIEW_BUSY] = "busy",       [REVIEW_FAILED] = "failed",
    };
    struct scene *s = ctx;
    buf_printf(&s->told, "%lu %s " STR_FMT "\n", ticket, words[verdict], STR_ARG(user));
}

static void open(struct scene *s)
{
    desk_init(&s->desk);
    reviews_init(&s->reviews, 0, 100, answered, s, &s->desk.listener);
    buf_add(&s->told, STR(""));
}

static void scene_done(struct scene *s)
{
    reviews_done(&s->reviews);
    desk_done(&s->desk);
    buf_done(&s->told);
}

static void ask(struct scene *s, int64_t now_ms, const char *token, const char *path,
                review_ticket ticket)
{
    struct buf user = {0};
    if (!*token)
        review_user(&user, STR(""), NULL, 0);
    struct review_question q = {str_of(token), buf_str(&user), STR("get"), str_of(path)};
    reviews_ask(&s->reviews, now_ms, &q, ticket, &s->desk.out);
    buf_done(&user);
}

/* The request made last, and its body. */
static const char *request(struct scene *s)
{
    const struct request *r = &vec_last(&s->desk.out.list);
    s->last = r->id;
    EXPECT_INT(r->lane, LANE_READ);
    return arena_printf(&s->desk.out.mem, STR_FMT " " STR_FMT, STR_ARG(r->path), STR_ARG(r->body))
        .p;
}

static void answer(struct scene *s, int64_t now_ms, int status, const char *body)
{
    struct reply replies[] = {reply_head(s->last, status), reply_data(s->last, body),
                              reply_end(s->last)};
    for (size_t i = 0; i < LEN(replies); i++)
        reviews_hear(&s->reviews, now_ms, &replies[i], &s->desk.out);
}

#define WHO                                                                                        \
    "{\"kind\":\"TokenReview\",\"status\":{\"authenticated\":true,\"user\":{\"username\":\"ann\"," \
    "\"uid\":\"7\",\"groups\":[\"a\",\"b\"],\"extra\":{\"k\":[\"v\"]}}}}"
#define YES "{\"status\":{\"allowed\":true}}"
#define NO  "{\"status\":{\"allowed\":false}}"

TEST(review, asks_whose_token_it_is_and_whether_they_may)
{
    AUTO(scene) s = {0};
    open(&s);
    ask(&s, 1000, "abc\"def", "/metrics", 1);
    EXPECT_TEXT(request(&s),
                "/apis/authentication.k8s.io/v1/tokenreviews "
                "{\"apiVersion\":\"authentication.k8s.io/v1\",\"kind\":\"TokenReview\","
                "\"spec\":{\"token\":\"abc\\\"def\"}}");
    answer(&s, 1000, 201, WHO);
    EXPECT_TEXT(request(&s),
                "/apis/authorization.k8s.io/v1/subjectaccessreviews "
                "{\"apiVersion\":\"authorization.k8s.io/v1\",\"kind\":\"SubjectAccessReview\","
                "\"spec\":{\"user\":\"ann\",\"uid\":\"7\",\"groups\":[\"a\",\"b\"],"
                "\"extra\":{\"k\":[\"v\"]},"
                "\"nonResourceAttributes\":{\"path\":\"/metrics\",\"verb\":\"get\"}}}");
    EXPECT_TEXT(s.told.p, "");
    answer(&s, 1000, 201, YES);
    EXPECT_TEXT(s.told.p, "1 allowed ann\n");
}

TEST(review, who_shows_no_token_is_nobody_in_particular)
{
    AUTO(scene) s = {0};
    open(&s);
    ask(&s, 0, "", "/metrics", 1);
    EXPECT(strstr(request(&s), "\"spec\":{\"user\":\"system:anonymous\",\"groups\":"
                               "[\"system:unauthenticated\"],\"nonResource"));
    answer(&s, 0, 201, NO);
    EXPECT_TEXT(s.told.p, "1 denied \n");
    struct buf user = {0};
    review_user(&user, STR("bob"), (struct str[]){STR("x")}, 1);
    EXPECT_TEXT(user.p, "\"user\":\"bob\",\"groups\":[\"x\",\"system:authenticated\"]");
    buf_done(&user);
}

TEST(review, what_was_said_holds_for_ten_seconds)
{
    AUTO(scene) s = {0};
    open(&s);
    ask(&s, 0, "t", "/metrics", 1);
    ask(&s, 0, "t", "/metrics", 2); /* the same: no further request */
    EXPECT_INT(s.desk.out.list.n, 1);
    request(&s);
    answer(&s, 0, 201, WHO);
    request(&s);
    answer(&s, 0, 201, NO);
    EXPECT_TEXT(s.told.p, "1 denied ann\n2 denied ann\n");
    ask(&s, 9999, "t", "/metrics", 3);
    EXPECT(strstr(s.told.p, "3 denied ann"));
    EXPECT_INT(s.desk.out.list.n, 2);
    ask(&s, 9999, "t", "/other", 4); /* another question */
    EXPECT_INT(s.desk.out.list.n, 3);
    ask(&s, 10000, "t", "/metrics", 5);
    EXPECT_INT(s.desk.out.list.n, 4);
}

TEST(review, a_token_that_nobody_knows_is_a_strangers)
{
    static const struct {
        int status;
        const char *body;
        bool is_kept;
    } cases[] = {
        {201, "{\"status\":{\"authenticated\":false}}", true},
        {201, "{\"status\":{\"authenticated\":true,\"user\":{}}}", true},
        {201, "{}", true},
        {201, "{\"status\":", false},
        {403, "{\"kind\":\"Status\",\"message\":\"no\"}", false},
        {500, "", false},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("case %zu", i);
        AUTO(scene) s = {0};
        open(&s);
        ask(&s, 0, "t", "/metrics", 1);
        request(&s);
        answer(&s, 0, cases[i].status, cases[i].body);
        EXPECT_TEXT(s.told.p, "1 stranger \n");
        ask(&s, 1, "t", "/metrics", 2);
        EXPECT_INT(s.desk.out.list.n, cases[i].is_kept ? 1 : 2);
    }
}

TEST(review, says_once_which_right_it_lacks)
{
    AUTO(scene) s = {0};
    open(&s);
    for (int i = 0; i < 2; i++) {
        ask(&s, i, "", "/metrics", (review_ticket)i);
        request(&s);
        answer(&s, i, 403, "{\"kind\":\"Status\",\"code\":403,\"message\":\"may not\"}");
    }
    EXPECT_TEXT(s.told.p, "0 failed \n1 failed \n");
    const char *log = desk_log(&s.desk);
    const char *first = strstr(log, "subjectaccessreviews.authorization.k8s.io");
    EXPECT(first && strstr(log, "may not"));
    EXPECT(first && !strstr(first + 1, "subjectaccessreviews.authorization.k8s.io: "));
}

TEST(review, a_lost_answer_is_no_verdict)
{
    AUTO(scene) s = {0};
    open(&s);
    ask(&s, 0, "", "/metrics", 1);
    request(&s);
    struct reply lost = reply_lost(s.last, true);
    reviews_hear(&s.reviews, 0, &lost, &s.desk.out);
    EXPECT_TEXT(s.told.p, "1 failed \n");
}

TEST(review, only_so_many_are_under_way_and_begin_in_a_second)
{
    AUTO(scene) s = {0};
    open(&s);
    char token[16];
    for (uint32_t i = 0; i < REVIEWS_UNDER_WAY + 1; i++) {
        snprintf(token, sizeof(token), "t%u", i);
        ask(&s, 0, token, "/metrics", i);
    }
    EXPECT_TEXT(s.told.p, "16 busy \n");
    EXPECT_INT(s.desk.out.list.n, REVIEWS_UNDER_WAY);
    for (uint32_t i = 0; i < 200; i++) { /* each is answered at once */
        s.last = vec_last(&s.desk.out.list).id;
        answer(&s, 0, 201, "{\"status\":{\"authenticated\":false}}");
        snprintf(token, sizeof(token), "u%u", i);
        ask(&s, 0, token, "/metrics", 1000 + i);
    }
    EXPECT_INT(s.desk.out.list.n, REVIEWS_A_SECOND);
    EXPECT(s.reviews.list.n <= REVIEWS_MOST);
    ask(&s, 10, "later", "/metrics", 1);
    EXPECT_INT(s.desk.out.list.n, REVIEWS_A_SECOND + 1);
}

#include "kube/lease.h"

#include "desk.h"
#include "support/test.h"

/* One replica, the server's part played by the test. */
struct scene {
    struct desk desk;
    struct lease lease;
    int64_t now_ms;
};

static void scene_done(struct scene *s)
{
    lease_done(&s->lease);
    desk_done(&s->desk);
}

static void open(struct scene *s)
{
    struct lease_config config = {
        .namespace = STR("kube-system"), .name = STR("kube-scheduler"), .identity = STR("me")};
    desk_init(&s->desk);
    s->now_ms = 5000;
    lease_init(&s->lease, &config, s->now_ms, 100, test_seed(), &s->desk.listener);
    s->lease.wall_offset_ms = 1700000000000 - s->now_ms;
}

static const char *read_log(struct scene *s)
{
    return desk_log(&s->desk);
}

static void hear(struct scene *s, struct reply reply)
{
    lease_hear(&s->lease, s->now_ms, &reply, &s->desk.out);
}

static void answer(struct scene *s, int status, const char *body)
{
    request_id id = s->lease.current;
    hear(s, reply_head(id, status));
    hear(s, reply_data(id, body));
    hear(s, reply_end(id));
}

static void lose(struct scene *s)
{
    hear(s, reply_lost(s->lease.current, true));
}

static void pass(struct scene *s, int64_t ms)
{
    s->now_ms += ms;
    lease_tick(&s->lease, s->now_ms, &s->desk.out);
}

static int64_t wait_for_timer(struct scene *s)
{
    int64_t waited = lease_next_ms(&s->lease) - s->now_ms;
    pass(s, waited);
    return waited;
}

static bool leads(const struct scene *s)
{
    return lease_is_leading(&s->lease, s->now_ms);
}

#define LEASES "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
#define ASK    "LEASE GET " LEASES "/kube-scheduler\n"
#define META(version)                                                                              \
    "{\"name\":\"kube-scheduler\",\"labels\":{\"x\":\"y\"},\"resourceVersion\":\"" version "\"}"
#define SPEC(holder, seconds, acquired, renewed, transitions)                                      \
    "{\"holderIdentity\":\"" holder "\",\"leaseDurationSeconds\":" #seconds                        \
    ",\"acquireTime\":\"" acquired "\",\"renewTime\":\"" renewed                                   \
    "\",\"leaseTransitions\":" #transitions "}"
#define STORED(version, spec) "{\"metadata\":" META(version) ",\"spec\":" spec "}"
#define BODY(meta, spec)                                                                           \
    "{\"apiVersion\":\"coordination.k8s.io/v1\",\"kind\":\"Lease\",\"metadata\":" meta             \
    ",\"spec\":" spec "}\n"
#define T0 "2023-11-14T22:13:20.000000Z"

/* We hold it since the beginning. */
static void open_leading(struct scene *s)
{
    open(s);
    pass(s, 0);
    answer(s, 404, "");
    answer(s, 201, STORED("1", SPEC("me", 15, T0, T0, 0)));
    read_log(s);
}

TEST(lease, that_is_not_there_is_made)
{
    AUTO(scene) s = {0};
    open(&s);
    pass(&s, 0);
    EXPECT_TEXT(read_log(&s), ASK);
    answer(&s, 404, "");
    EXPECT_TEXT(read_log(&s), "LEASE POST " LEASES " " BODY(
                                  "{\"name\":\"kube-scheduler\",\"namespace\":\"kube-system\"}",
                                  SPEC("me", 15, T0, T0, 0)));
    EXPECT(!leads(&s));
    answer(&s, 201, STORED("1", SPEC("me", 15, T0, T0, 0)));
    EXPECT(leads(&s));
}

TEST(lease, of_a_server_that_is_not_there_is_asked_for_again_soon)
{
    AUTO(scene) s = {0};
    open(&s);
    pass(&s, 0);
    for (int i = 0; i < 3; i++) {
        hear(&s, reply_lost(s.lease.current, false));
        int64_t waited = wait_for_timer(&s);
        EXPECT(waited >= 100 && waited < 200);
    }
    lose(&s); /* one that heard us is not pressed */
    EXPECT(wait_for_timer(&s) >= 2000);
}

TEST(lease, is_renewed_every_two_seconds_without_reading_it)
{
    AUTO(scene) s = {0};
    open_leading(&s);
    EXPECT_INT(wait_for_timer(&s), 2000);
    EXPECT_TEXT(read_log(&s), "LEASE PUT " LEASES "/kube-scheduler " BODY(
                                  META("1"), SPEC("me", 15, T0, "2023-11-14T22:13:22.000000Z", 0)));
    answer(&s, 200, STORED("2", SPEC("me", 15, T0, "2023-11-14T22:13:22.000000Z", 0)));
    EXPECT_INT(wait_for_timer(&s), 2000);
    EXPECT(strstr(read_log(&s), "\"resourceVersion\":\"2\"") != NULL);
}

TEST(lease, of_another_is_taken_when_it_did_not_change_for_its_duration)
{
    static const char theirs[] = STORED("5", SPEC("you", 15, T0, "1999-01-01T00:00:00.000000Z", 3));
    AUTO(scene) s = {0};
    open(&s);
    pass(&s, 0);
    read_log(&s);
    answer(&s, 200, theirs); /* its clock is wrong: that does not matter */
    int64_t seen_ms = s.now_ms;
    while (s.lease.state == LEASE_WAITING && s.now_ms < seen_ms + 60000) {
        int64_t waited = wait_for_timer(&s);
        EXPECT(waited >= 2000 && waited < 4400);
        EXPECT_TEXT(read_log(&s), ASK);
        answer(&s, 200, theirs);
    }
    EXPECT(s.now_ms >= seen_ms + 15000 && s.now_ms < seen_ms + 15000 + 4400);
    const char *log = read_log(&s);
    EXPECT(strstr(log, "PUT") && strstr(log, "\"holderIdentity\":\"me\"") &&
           strstr(log, "\"leaseTransitions\":4"));
    EXPECT(!leads(&s));
    answer(&s, 200, STORED("6", SPEC("me", 15, T0, T0, 4)));
    EXPECT(leads(&s));
}

/* Asks at that time, and hears that nothing changed. */
static enum lease_state look_at(struct scene *s, int64_t now_ms, const char *stored)
{
    pass(s, now_ms - s->now_ms);
    if (s->lease.state == LEASE_ASKING)
        answer(s, 200, stored);
    return s->lease.state;
}

TEST(lease, of_another_is_taken_when_its_time_is_over_however_long_that_is)
{
    static const int32_t seconds[] = {10, 15, 3600, 3601, 7200, 86400, INT32_MAX};
    for (size_t i = 0; i < LEN(seconds); i++) {
        AUTO(scene) s = {0};
        char theirs[512];
        snprintf(theirs, sizeof(theirs), STORED("5", SPEC("you", % d, T0, T0, 3)), seconds[i]);
        open(&s);
        int64_t seen_ms = s.now_ms, over_ms = seen_ms + (int64_t)seconds[i] * 1000;
        EXPECT_INT(look_at(&s, seen_ms, theirs), LEASE_WAITING);
        EXPECT_INT(look_at(&s, seen_ms + 4400, theirs), LEASE_WAITING);
        EXPECT_INT(look_at(&s, over_ms - 1, theirs), LEASE_WAITING);
        EXPECT_INT(look_at(&s, over_ms + 4400, theirs), LEASE_TAKING);
        EXPECT(strstr(read_log(&s), "\"holderIdentity\":\"me\"") != NULL);
    }
}

TEST(lease, of_another_who_renews_is_left_alone)
{
    AUTO(scene) s = {0};
    open(&s);
    pass(&s, 0);
    for (int i = 0; i < 20; i++) {
        char body[512];
        snprintf(body, sizeof(body), STORED("%d", SPEC("you", 15, T0, "%d", 3)), i, i);
        answer(&s, 200, body);
        EXPECT_INT(s.lease.state, LEASE_WAITING);
        wait_for_timer(&s);
    }
}

TEST(lease, that_was_given_back_is_taken_at_once)
{
    AUTO(scene) s = {0};
    open(&s);
    pass(&s, 0);
    answer(&s, 200, STORED("5", SPEC("", 1, T0, T0, 3)));
    EXPECT_INT(s.lease.state, LEASE_TAKING);
    answer(&s, 409, ""); /* somebody was faster */
    EXPECT_INT(s.lease.state, LEASE_WAITING);
    EXPECT(!leads(&s));
}

TEST(lease, is_lost_after_ten_seconds_without_a_renewal)
{
    AUTO(scene) s = {0};
    open_leading(&s);
    int64_t held_ms = s.now_ms;
    while (!lease_is_over(&s.lease)) {
        wait_for_timer(&s);
        if (s.lease.current)
            lose(&s);
        REQUIRE(s.now_ms <= held_ms + 10000);
        EXPECT(leads(&s) == (s.now_ms < held_ms + 10000));
    }
    EXPECT_INT(s.now_ms, held_ms + 10000);
}

TEST(lease, counts_from_when_the_write_was_sent)
{
    AUTO(scene) s = {0};
    open_leading(&s);
    int64_t held_ms = s.now_ms;
    wait_for_timer(&s);
    pass(&s, 4000);
    answer(&s, 200, STORED("2", SPEC("me", 15, T0, T0, 0)));
    EXPECT(lease_is_leading(&s.lease, held_ms + 2000 + 9999));
    EXPECT(!lease_is_leading(&s.lease, held_ms + 2000 + 10000));
}

TEST(lease, once_lost_does_not_come_back_by_a_late_answer)
{
    AUTO(scene) s = {0};
    open_leading(&s);
    wait_for_timer(&s);
    s.now_ms += 8000; /* nobody looked for a while */
    EXPECT(!leads(&s));
    answer(&s, 200, STORED("2", SPEC("me", 15, T0, T0, 0)));
    EXPECT(!leads(&s));
    EXPECT(lease_is_over(&s.lease));
}

TEST(lease, whose_renewal_conflicts_is_read_again)
{
    static const struct {
        const char *stored;
        enum lease_state state;
    } cases[] = {
        {STORED("9", SPEC("me", 15, T0, T0, 0)), LEASE_RENEWING},
        {STORED("9", SPEC("you", 15, T0, T0, 1)), LEASE_OVER},
        {STORED("9", SPEC("", 1, T0, T0, 1)), LEASE_OVER},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("case %zu", i);
        AUTO(scene) s = {0};
        open_leading(&s);
        wait_for_timer(&s);
        read_log(&s);
        answer(&s, 409, "");
        EXPECT_TEXT(read_log(&s), ASK);
        EXPECT(leads(&s));
        answer(&s, 200, cases[i].stored);
        EXPECT_INT(s.lease.state, cases[i].state);
    }
}

TEST(lease, is_given_back_on_the_way_out)
{
    AUTO(scene) s = {0};
    open_leading(&s);
    s.now_ms += 1000;
    lease_release(&s.lease, s.now_ms, &s.desk.out);
    EXPECT(!leads(&s));
    EXPECT_TEXT(read_log(&s), "LEASE PUT " LEASES "/kube-scheduler " BODY(
                                  META("1"), SPEC("", 1, "2023-11-14T22:13:21.000000Z",
                                                  "2023-11-14T22:13:21.000000Z", 0)));
    EXPECT(!lease_is_over(&s.lease));
    answer(&s, 200, STORED("2", SPEC("", 1, T0, T0, 0)));
    EXPECT(lease_is_over(&s.lease));
}

TEST(lease, that_was_never_ours_needs_no_giving_back)
{
    AUTO(scene) s = {0};
    open(&s);
    pass(&s, 0);
    answer(&s, 200, STORED("5", SPEC("you", 15, T0, T0, 3)));
    read_log(&s);
    lease_release(&s.lease, s.now_ms, &s.desk.out);
    EXPECT_TEXT(read_log(&s), "");
    EXPECT(lease_is_over(&s.lease));
}

TEST(lease, says_what_rbac_lacks)
{
    AUTO(scene) s = {0};
    open(&s);
    pass(&s, 0);
    read_log(&s);
    answer(&s, 403, "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"message\":\"no lease for you\"}");
    EXPECT_TEXT(read_log(&s), "denied: get leases.coordination.k8s.io: no lease for you\n");
    wait_for_timer(&s);
    read_log(&s);
    answer(&s, 404, "");
    read_log(&s);
    answer(&s, 403, "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"message\":\"still none\"}");
    EXPECT_TEXT(read_log(&s), "");
    EXPECT_INT(s.lease.state, LEASE_WAITING);
}

#include "io/net/http2.h"

#include <stdio.h>

#include "support/test.h"
#include "talk.h"

static struct http2_law quick(void)
{
    struct http2_law law = http2_usual_law;
    law.retry_first_ms = 2;
    law.retry_cap_ms = 8;
    return law;
}

TEST(http2, carries_calls_and_answers_in_the_open_and_over_tls)
{
    for (int is_tls = 0; is_tls < 2; is_tls++) {
        test_case("tls %d", is_tls);
        AUTO(pair) p = {0};
        pair_start(&p, (struct peer_config){.is_tls = is_tls}, quick());
        http2_authorize(p.talk.client, STR("Bearer abc"));
        talk_post(&p.talk, 1, "/echo?a=b", "{\"x\":1}");
        talk_until_ended(&p.talk, 1);
        EXPECT_TEXT(talk_log(&p.talk),
                    "1 head 200 application/json|1 data POST /echo?a=b user-agent=test "
                    "accept=application/json "
                    "content-type=application/json authorization=Bearer abc [{\"x\":1}]|1 end|");
        struct http2_call call = {
            .id = 2, .method = "DELETE", .path = STR("/echo"), .accept = STR("a/b")};
        http2_authorize(p.talk.client, STR(""));
        http2_send(p.talk.client, &call);
        talk_until_ended(&p.talk, 2);
        EXPECT_TEXT(
            talk_log(&p.talk),
            "2 head 200 application/json|2 data DELETE /echo user-agent=test accept=a/b []|2 end|");
        EXPECT_INT(peer_accepted(p.peer), 1);
    }
}

TEST(http2, makes_a_connection_before_the_first_call)
{
    AUTO(pair) p = {0};
    pair_start(&p, (struct peer_config){.is_tls = true}, quick());
    http2_connect(p.talk.client);
    while (!peer_accepted(p.peer))
        loop_wait(p.loop, INT64_MAX);
    http2_connect(p.talk.client);
    talk_get(&p.talk, 1, "/empty");
    talk_until_ended(&p.talk, 1);
    EXPECT_TEXT(talk_log(&p.talk), "1 head 200 application/json|1 end|");
    EXPECT_INT(peer_accepted(p.peer), 1);
}

TEST(http2, goes_on_after_it_gave_room_back)
{
    for (int is_tls = 0; is_tls < 2; is_tls++) {
        test_case("tls %d", is_tls);
        AUTO(pair) p = {0};
        pair_start(&p, (struct peer_config){.is_tls = is_tls}, quick());
        http2_trim(p.talk.client);
        for (uint32_t i = 1; i <= 3; i++) {
            talk_post(&p.talk, i, "/echo", "{}");
            http2_trim(p.talk.client); /* it waits, */
            loop_wait(p.loop, INT64_MAX);
            http2_trim(p.talk.client); /* is on its way, */
            talk_until_ended(&p.talk, i);
            http2_trim(p.talk.client); /* and is answered */
        }
        EXPECT_INT(peer_accepted(p.peer), 1);
        EXPECT(strstr(talk_log(&p.talk), "3 end|"));
    }
}

TEST(http2, tells_status_and_when_to_come_again)
{
    AUTO(pair) p = {0};
    pair_start(&p, (struct peer_config){0}, quick());
    talk_get(&p.talk, 1, "/status/409");
    talk_until_ended(&p.talk, 1);
    EXPECT_TEXT(talk_log(&p.talk), "1 head 409 application/json|1 data {\"code\":409}|1 end|");
    talk_get(&p.talk, 2, "/status/429/after/3");
    talk_until_ended(&p.talk, 2);
    EXPECT_TEXT(talk_log(&p.talk),
                "2 head 429 application/json after 3000|2 data {\"code\":429}|2 end|");
    talk_get(&p.talk, 3, "/empty");
    talk_until_ended(&p.talk, 3);
    EXPECT_TEXT(talk_log(&p.talk), "3 head 200 application/json|3 end|");
}

TEST(http2, a_stream_comes_in_pieces_outlives_its_time_and_is_closed_when_cancelled)
{
    AUTO(pair) p = {0};
    pair_start(&p, (struct peer_config){.is_tls = true}, quick());
    talk_get(&p.talk, 6, "/empty");
    talk_until_ended(&p.talk, 1);
    talk_log(&p.talk);
    struct http2_call call = {
        .id = 7, .method = "GET", .path = STR("/stream"), .is_stream = true, .timeout_ms = 300};
    http2_send(p.talk.client, &call);
    talk_until(&p.talk, "two");
    EXPECT_TEXT(talk_log(&p.talk), "7 head 200 application/json|7 data one\n|7 data two\n|");
    for (int64_t until_ms = loop_now_ms(p.loop) + 310; loop_now_ms(p.loop) < until_ms;)
        loop_wait(p.loop, until_ms); /* its time is for the head */
    http2_cancel(p.talk.client, 7);
    while (!peer_resets(p.peer))
        loop_wait(p.loop, INT64_MAX);
    talk_get(&p.talk, 8, "/empty");
    talk_until_ended(&p.talk, 2);
    EXPECT_TEXT(talk_log(&p.talk), "8 head 200 application/json|8 end|");
}

static void count_bytes(struct talk *t, const struct http2_piece *piece)
{
    t->last_data += piece->data.n;
    if (piece->kind == HTTP2_DATA)
        buf_clear(&t->log);
}

TEST(http2, an_answer_larger_than_all_windows_arrives_whole)
{
    AUTO(pair) p = {0};
    pair_start(&p, (struct peer_config){.is_tls = true}, quick());
    p.talk.on_piece = count_bytes;
    talk_get(&p.talk, 1, "/bytes/20000000");
    talk_until_ended(&p.talk, 1);
    EXPECT_INT(p.talk.last_data, 20000000);
}

TEST(http2, a_body_larger_than_the_servers_window_is_sent_whole)
{
    AUTO(pair) p = {0};
    pair_start(&p, (struct peer_config){.is_tls = true}, quick());
    struct buf body = {0};
    while (body.n < 300000)
        buf_printf(&body, "%06zu", body.n);
    p.talk.on_piece = count_bytes;
    talk_post(&p.talk, 1, "/echo", body.p);
    talk_until_ended(&p.talk, 1);
    EXPECT(p.talk.last_data > 300000);
    buf_done(&body);
}

TEST(http2, a_body_larger_than_what_is_made_ready_at_once_is_sent_whole)
{
    AUTO(pair) p = {0};
    struct buf body = {0};
    pair_start(&p, (struct peer_config){.window_bytes = 4 << 20}, quick());
    talk_get(&p.talk, 1, "/empty"); /* so that the server's settings have come */
    talk_until_ended(&p.talk, 1);
    while (body.n < 1000000)
        buf_printf(&body, "%06zu", body.n);
    p.talk.on_piece = count_bytes;
    talk_post(&p.talk, 2, "/echo", body.p);
    EXPECT(talk_until_ended(&p.talk, 2));
    EXPECT(p.talk.last_data > 1000000);
    buf_done(&body);
}

TEST(http2, knocks_in_quick_succession_at_first)
{
    AUTO(pair) p = {0};
    struct http2_law law = {
        .retry_first_ms = 2, .retry_cap_ms = 60000, .retry_quick = 20, .streams_most = 100};
    pair_start(&p, (struct peer_config){0}, law);
    peer_free(p.peer);
    p.peer = NULL;
    for (uint32_t id = 1; id <= 20; id++) { /* doubling each time, it would take an hour */
        talk_get(&p.talk, id, "/empty");
        EXPECT(talk_until_ended(&p.talk, id));
    }
}

TEST(http2, more_calls_than_streams_wait_for_their_turn)
{
    static const struct {
        uint32_t server, ours, most;
    } cases[] = {
        {100, 100, 100},
        {5, 100, 5},
        {100, 7, 7},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("server allows %u, we %u", cases[i].server, cases[i].ours);
        AUTO(pair) p = {0};
        struct http2_law law = quick();
        law.streams_most = cases[i].ours;
        pair_start(&p, (struct peer_config){.streams_most = cases[i].server}, law);
        talk_get(&p.talk, 1000, "/empty"); /* so that the server's settings have come */
        talk_until_ended(&p.talk, 1);
        for (uint64_t id = 0; id < 300; id++)
            talk_post(&p.talk, id, "/echo", "x");
        talk_until_ended(&p.talk, 301);
        EXPECT_INT(peer_streams(p.peer), cases[i].most);
        EXPECT_INT(peer_accepted(p.peer), 1);
        EXPECT(!strstr(p.talk.log.p, "lost"));
    }
}

TEST(http2, only_as_many_calls_go_as_are_admitted)
{
    AUTO(pair) p = {0};
    pair_start(&p, (struct peer_config){0}, quick());
    p.talk.most = 2;
    for (uint64_t id = 1; id <= 3; id++)
        talk_get(&p.talk, id, "/empty");
    talk_until_ended(&p.talk, 2);
    for (int i = 0; i < 5; i++)
        loop_wait(p.loop, 0);
    EXPECT_TEXT(talk_log(&p.talk),
                "1 head 200 application/json|1 end|2 head 200 application/json|2 end|");
    p.talk.most = 1;
    http2_resume(p.talk.client);
    talk_until_ended(&p.talk, 3);
    EXPECT_TEXT(talk_log(&p.talk), "3 head 200 application/json|3 end|");
}

TEST(http2, says_of_what_is_lost_whether_it_may_have_arrived)
{
    static const struct {
        const char *path, *log;
    } cases[] = {
        {"/hang", "1 lost maybe: no answer within 200 ms|"},
        {"/reset", "1 lost maybe: INTERNAL_ERROR|"},
        {"/refuse", "1 lost: the server refuses the stream|"},
        {"/drop", "1 lost maybe: the server closed the connection|"},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s", cases[i].path);
        AUTO(pair) p = {0};
        pair_start(&p, (struct peer_config){.is_tls = true}, quick());
        talk_get(&p.talk, 9, "/empty");
        talk_until_ended(&p.talk, 1);
        talk_log(&p.talk);
        struct http2_call call = {
            .id = 1, .method = "GET", .path = str_of(cases[i].path), .timeout_ms = i ? 20000 : 200};
        http2_send(p.talk.client, &call);
        talk_until_ended(&p.talk, 2);
        EXPECT_TEXT(talk_log(&p.talk), cases[i].log);
        talk_get(&p.talk, 2, "/empty"); /* and all goes on */
        talk_until_ended(&p.talk, 3);
        EXPECT_TEXT(talk_log(&p.talk), "2 head 200 application/json|2 end|");
    }
}

TEST(http2, what_waits_for_a_stream_has_not_arrived_when_the_connection_breaks)
{
    AUTO(pair) p = {0};
    struct http2_law law = quick();
    law.streams_most = 1;
    pair_start(&p, (struct peer_config){0}, law);
    talk_get(&p.talk, 1, "/drop");
    talk_get(&p.talk, 2, "/empty");
    talk_until_ended(&p.talk, 2);
    EXPECT_TEXT(
        talk_log(&p.talk),
        "1 lost maybe: the server closed the connection|2 head 200 application/json|2 end|");
    EXPECT_INT(peer_accepted(p.peer), 2);
}

TEST(http2, what_the_socket_did_not_take_has_not_arrived)
{
    AUTO(pair) p = {0};
    pair_start(&p, (struct peer_config){0}, quick());
    talk_get(&p.talk, 1, "/empty");
    talk_until_ended(&p.talk, 1);
    talk_log(&p.talk);
    peer_freeze(p.peer);
    struct buf text = {0}; /* more than a socket's buffers hold, in headers: they know no window */
    while (text.n < 60000)
        buf_add_char(&text, 'a');
    for (uint64_t id = 2; id <= 100; id++) {
        struct http2_call call = {
            .id = id, .method = "GET", .path = STR("/echo"), .accept = buf_str(&text)};
        http2_send(p.talk.client, &call);
    }
    for (int i = 0; i < 10; i++)
        loop_wait(p.loop, 0);
    http2_cut(p.talk.client, "cut");
    EXPECT(strstr(p.talk.log.p, "|3 lost maybe: cut|"));
    EXPECT(strstr(p.talk.log.p, "|100 lost: cut|"));
    EXPECT_INT(p.talk.ended, 100);
    buf_done(&text);
}

TEST(http2, a_refused_stream_is_tried_again)
{
    AUTO(pair) p = {0};
    pair_start(&p, (struct peer_config){0}, quick());
    talk_post(&p.talk, 1, "/refuse/2", "body");
    talk_until_ended(&p.talk, 1);
    EXPECT(strstr(talk_log(&p.talk), "POST /refuse/2 user-agent=test accept=application/json "
                                     "content-type=application/json [body]|1 end|"));
}

TEST(http2, a_server_that_says_goodbye_ends_what_it_began_and_the_rest_goes_to_a_new_connection)
{
    AUTO(pair) p = {0};
    pair_start(&p, (struct peer_config){.is_tls = true}, quick());
    talk_get(&p.talk, 1, "/stream");
    talk_until(&p.talk, "two");
    talk_log(&p.talk);
    talk_get(&p.talk, 2, "/goodbye");
    talk_until_ended(&p.talk, 1);
    EXPECT(strstr(talk_log(&p.talk), "2 end|"));
    talk_get(&p.talk, 3, "/empty");
    talk_until_ended(&p.talk, 2);
    EXPECT_TEXT(talk_log(&p.talk), "3 head 200 application/json|3 end|");
    EXPECT_INT(peer_accepted(p.peer), 2);
    EXPECT_INT(peer_connected(p.peer), 2); /* the stream still lives on the old one */
    http2_cancel(p.talk.client, 1);
    while (peer_connected(p.peer) > 1)
        loop_wait(p.loop, INT64_MAX);
}

TEST(http2, what_a_goodbye_denies_is_sent_again_on_a_new_connection)
{
    AUTO(pair) p = {0};
    pair_start(&p, (struct peer_config){0}, quick());
    talk_get(&p.talk, 1, "/goodbye/all");
    talk_until_ended(&p.talk, 1);
    EXPECT_TEXT(talk_log(&p.talk), "1 lost: the server refuses the stream|");
    EXPECT_INT(peer_accepted(p.peer), 3);
}

TEST(http2, a_server_that_says_goodbye_to_everybody_is_not_asked_without_a_pause)
{
    AUTO(pair) p = {0};
    struct http2_law law = quick();
    law.retry_first_ms = law.retry_cap_ms = 60;
    pair_start(&p, (struct peer_config){.is_leaving = true}, law);
    int64_t began_ms = loop_monotonic_ms(p.loop);
    talk_get(&p.talk, 1, "/empty");
    talk_until_ended(&p.talk, 1);
    EXPECT_TEXT(talk_log(&p.talk), "1 lost: the server refuses the stream|");
    EXPECT_INT(peer_accepted(p.peer), 3);
    EXPECT(loop_monotonic_ms(p.loop) - began_ms >= 60); /* two pauses of 30 ms at least */
}

TEST(http2, calls_to_nobody_are_lost_and_later_ones_find_the_server_that_came)
{
    AUTO(pair) p = {0};
    pair_start(&p, (struct peer_config){0}, quick());
    uint16_t port = peer_port(p.peer);
    peer_free(p.peer);
    p.peer = NULL;
    char wanted[80];
    snprintf(wanted, sizeof(wanted), "1 lost: connect to 127.0.0.1:%u: Connection refused|", port);
    talk_get(&p.talk, 1, "/empty");
    talk_until_ended(&p.talk, 1);
    EXPECT_TEXT(talk_log(&p.talk), wanted);
    for (uint64_t id = 2; id < 6; id++) {
        talk_get(&p.talk, id, "/empty");
        talk_until_ended(&p.talk, (uint32_t)id);
    }
    talk_log(&p.talk);
    p.peer = peer_new(p.loop, &(struct peer_config){.port = port});
    talk_get(&p.talk, 6, "/empty");
    talk_until_ended(&p.talk, 6);
    EXPECT_TEXT(talk_log(&p.talk), "6 head 200 application/json|6 end|");
}

TEST(http2, a_server_that_vanished_without_a_word_is_noticed)
{
    AUTO(pair) p = {0};
    struct http2_law law = quick();
    law.ping_after_ms = 30;
    law.ping_wait_ms = 400;
    pair_start(&p, (struct peer_config){.is_tls = true}, law);
    talk_get(&p.talk, 1, "/stream");
    talk_until(&p.talk, "two");
    for (int64_t until_ms = loop_now_ms(p.loop) + 100; loop_now_ms(p.loop) < until_ms;)
        loop_wait(p.loop, until_ms); /* one that answers pings lives */
    EXPECT_TEXT(talk_log(&p.talk), "1 head 200 application/json|1 data one\n|1 data two\n|");
    peer_freeze(p.peer);
    talk_until_ended(&p.talk, 1);
    EXPECT_TEXT(talk_log(&p.talk), "1 lost maybe: the server is silent: no answer to a ping|");
}

static void cut_from_within(struct talk *t, const struct http2_piece *piece)
{
    if (piece->kind == HTTP2_HEAD)
        http2_cut(t->client, "cut");
}

TEST(http2, may_be_cut_from_within_a_call_and_used_again)
{
    AUTO(pair) p = {0};
    struct http2_law law = quick();
    law.streams_most = 2;
    pair_start(&p, (struct peer_config){.is_tls = true}, law);
    p.talk.on_piece = cut_from_within;
    for (uint64_t id = 1; id <= 3; id++)
        talk_get(&p.talk, id, "/bytes/100");
    talk_until_ended(&p.talk, 3);
    EXPECT_TEXT(talk_log(&p.talk),
                "1 head 200 application/json|1 lost maybe: cut|2 lost maybe: cut|3 lost: cut|");
    p.talk.on_piece = NULL;
    talk_get(&p.talk, 4, "/empty");
    talk_until_ended(&p.talk, 4);
    EXPECT_INT(peer_connected(p.peer), 1);
}

TEST(http2, a_new_configuration_takes_effect_without_losing_what_is_on_its_way)
{
    AUTO(pair) p = {0};
    pair_start(&p, (struct peer_config){0}, quick());
    struct peer *other = peer_new(p.loop, &(struct peer_config){0});
    talk_get(&p.talk, 1, "/stream");
    talk_until(&p.talk, "two");
    talk_log(&p.talk);
    struct http2_config config = {.path_prefix = STR("/echo/k8s"), .user_agent = STR("other")};
    config.link = (struct link_config){
        .host = STR("localhost"), .port = peer_port(other), .open_timeout_ms = 5000};
    http2_configure(p.talk.client, &config);
    talk_get(&p.talk, 2, "/api");
    talk_until_ended(&p.talk, 1);
    EXPECT_TEXT(talk_log(&p.talk),
                "2 head 200 application/json|2 data GET /echo/k8s/api user-agent=other "
                "accept=application/json []|2 end|");
    EXPECT_INT(peer_connected(p.peer), 1);
    peer_free(other);
}

#include "io/loop/loop.h"

#include <errno.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "support/test.h"

/* Who was called, in order. */
struct caller {
    struct buf *log;
    char name;
    struct loop *loop;
    struct loop_timer *set, *stop;
    struct loop_fd *remove;
    struct loop_task *put_off;
};

static void call(void *ctx)
{
    struct caller *c = ctx;
    buf_add_char(c->log, c->name);
    if (c->set)
        loop_timer_set(c->loop, c->set, 0);
    if (c->stop)
        loop_timer_stop(c->loop, c->stop);
    if (c->remove)
        loop_fd_set(c->loop, c->remove, 0);
    if (c->put_off)
        loop_task_put_off(c->loop, c->put_off);
}

static void call_ready(void *ctx, uint32_t events)
{
    (void)events;
    call(ctx);
}

static void call_signal(void *ctx, int signal)
{
    struct caller *c = ctx;
    c->name = signal == SIGUSR1 ? 'u' : 'h';
    call(ctx);
}

TEST(loop, timers_fire_in_the_order_of_their_times_and_of_equal_ones_in_the_order_they_were_set)
{
    struct loop *l = loop_new();
    struct buf log = {0};
    struct caller callers[4];
    struct loop_timer timers[4];
    static const int wait_ms[] = {3, 1, 1, 2};
    for (int i = 0; i < 4; i++) {
        callers[i] = (struct caller){.log = &log, .name = (char)('a' + i)};
        timers[i] = (struct loop_timer){.fire = call, .ctx = &callers[i]};
        loop_timer_set(l, &timers[i], wait_ms[i]);
    }
    while (log.n < 4)
        loop_wait(l, INT64_MAX);
    EXPECT_STR(buf_str(&log), "bcda");
    EXPECT(!loop_timer_is_set(&timers[0]));
    buf_done(&log);
    loop_free(l);
}

TEST(loop, a_timer_may_be_moved_and_stopped_also_from_a_call)
{
    struct loop *l = loop_new();
    struct buf log = {0};
    struct caller a = {.log = &log, .name = 'a', .loop = l}, b = {.log = &log, .name = 'b'},
                  c = {.log = &log, .name = 'c'};
    struct loop_timer first = {.fire = call, .ctx = &a}, second = {.fire = call, .ctx = &b};
    struct loop_timer again = {.fire = call, .ctx = &c};
    a.stop = &second;
    a.set = &again;
    loop_timer_set(l, &first, 60000);
    loop_timer_set(l, &first, 0); /* moved to the front */
    loop_timer_set(l, &second, 0);
    loop_wait(l, INT64_MAX);
    EXPECT_STR(buf_str(&log), "a"); /* what is set by a call waits for the next turn */
    loop_wait(l, INT64_MAX);
    EXPECT_STR(buf_str(&log), "ac");
    EXPECT(!loop_timer_is_set(&second));
    buf_done(&log);
    loop_free(l);
}

TEST(loop, a_watcher_removed_by_another_is_not_called_in_the_same_turn)
{
    struct loop *l = loop_new();
    struct buf log = {0};
    struct caller callers[2];
    struct loop_fd fds[2];
    int ends[2][2];
    for (int i = 0; i < 2; i++) {
        REQUIRE(pipe(ends[i]) == 0 && write(ends[i][1], "x", 1) == 1);
        callers[i] =
            (struct caller){.log = &log, .name = (char)('a' + i), .loop = l, .remove = &fds[1 - i]};
        fds[i] = (struct loop_fd){.ready = call_ready, .ctx = &callers[i], .fd = ends[i][0]};
        loop_fd_set(l, &fds[i], LOOP_READ);
    }
    loop_wait(l, INT64_MAX);
    EXPECT_INT(log.n, 1);
    EXPECT_INT(fds[0].events + fds[1].events, LOOP_READ);
    for (int i = 0; i < 2; i++) {
        loop_fd_set(l, &fds[i], 0);
        close(ends[i][0]);
        close(ends[i][1]);
    }
    buf_done(&log);
    loop_free(l);
}

TEST(loop, what_is_put_off_runs_once_before_the_loop_sleeps)
{
    struct loop *l = loop_new();
    struct buf log = {0};
    struct caller a = {.log = &log, .name = 'a', .loop = l}, b = {.log = &log, .name = 'b'},
                  c = {.log = &log, .name = 'c'};
    struct loop_task first = {.run = call, .ctx = &a}, second = {.run = call, .ctx = &b};
    struct loop_task third = {.run = call, .ctx = &c};
    a.put_off = &third;
    loop_task_put_off(l, &first);
    loop_task_put_off(l, &first);
    loop_task_put_off(l, &second);
    loop_task_stop(l, &second);
    EXPECT_INT(log.n, 0);
    loop_wait(l, INT64_MAX); /* does not sleep: there is one more to run */
    EXPECT_STR(buf_str(&log), "a");
    loop_wait(l, 0);
    EXPECT_STR(buf_str(&log), "ac");
    buf_done(&log);
    loop_free(l);
}

static int64_t now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void take_a_while(void *ctx, uint32_t events)
{
    int64_t *called_us = ctx, end_us = now_us() + 3000;
    (void)events;
    *called_us = now_us();
    while (now_us() < end_us)
        continue;
}

TEST(loop, what_comes_on_the_heels_of_other_news_waits_a_breath)
{
    struct loop *l = loop_new();
    struct buf log = {0};
    struct caller c = {.log = &log, .name = 'a'};
    int ends[2];
    REQUIRE(pipe(ends) == 0 && write(ends[1], "x", 1) == 1);
    struct loop_fd fd = {.ready = call_ready, .ctx = &c, .fd = ends[0]};
    loop_fd_set(l, &fd, LOOP_READ);
    loop_breathe(l, 2);
    loop_wait(l, INT64_MAX);
    int64_t first_us = now_us();
    for (int i = 0; i < 5; i++) /* the byte is never read, so there is always news */
        loop_wait(l, INT64_MAX);
    EXPECT_STR(buf_str(&log), "aaaaaa");
    EXPECT(now_us() - first_us >= 4 * 2000);
    loop_fd_set(l, &fd, 0);
    close(ends[0]);
    close(ends[1]);
    buf_done(&log);
    loop_free(l);
}

TEST(loop, timers_that_are_set_stay_when_room_is_given_back)
{
    struct loop *l = loop_new();
    struct buf log = {0};
    struct caller callers[8];
    struct loop_timer timers[8];
    for (int i = 0; i < 8; i++) {
        callers[i] = (struct caller){.log = &log, .name = (char)('a' + i)};
        timers[i] = (struct loop_timer){.fire = call, .ctx = &callers[i]};
        loop_timer_set(l, &timers[i], i == 1 ? 2 : 1);
    }
    for (int i = 2; i < 8; i++)
        loop_timer_stop(l, &timers[i]);
    loop_trim(l);
    loop_timer_set(l, &timers[5], 1);
    while (log.n < 3)
        loop_wait(l, INT64_MAX);
    EXPECT_STR(buf_str(&log), "afb");
    loop_trim(l);
    loop_timer_set(l, &timers[7], 0);
    while (log.n < 4)
        loop_wait(l, INT64_MAX);
    EXPECT_STR(buf_str(&log), "afbh");
    buf_done(&log);
    loop_free(l);
}

TEST(loop, knows_its_longest_turn)
{
    struct loop *l = loop_new();
    int64_t called_us = 0;
    int ends[2];
    REQUIRE(pipe(ends) == 0 && write(ends[1], "x", 1) == 1);
    struct loop_fd fd = {.ready = take_a_while, .ctx = &called_us, .fd = ends[0]};
    loop_fd_set(l, &fd, LOOP_READ);
    loop_wait(l, INT64_MAX);
    EXPECT_INT(loop_longest_us(l), 0);
    int64_t lasted_us = now_us() - called_us;
    loop_fd_set(l, &fd, 0);
    loop_wait(l, 0);
    EXPECT(loop_longest_us(l) >= 3000 && loop_longest_us(l) >= lasted_us);
    close(ends[0]);
    close(ends[1]);
    loop_free(l);
}

TEST(loop, signals_are_calls)
{
    struct loop *l = loop_new();
    struct buf log = {0};
    struct caller c = {.log = &log};
    loop_on_signal(l, SIGUSR1, call_signal, &c);
    loop_on_signal(l, SIGHUP, call_signal, &c);
    kill(getpid(), SIGHUP);
    kill(getpid(), SIGUSR1);
    while (log.n < 2)
        loop_wait(l, INT64_MAX);
    EXPECT(memchr(log.p, 'h', 2) && memchr(log.p, 'u', 2));
    buf_done(&log);
    loop_free(l);
    sigset_t blocked;
    sigprocmask(SIG_BLOCK, NULL, &blocked);
    EXPECT(!sigismember(&blocked, SIGUSR1));
}

TEST(loop, time_stands_still_during_a_turn_and_is_the_walls)
{
    struct loop *l = loop_new();
    int64_t now_ms = loop_now_ms(l);
    EXPECT(now_ms - (int64_t)time(NULL) * 1000 < 2000 &&
           now_ms - (int64_t)time(NULL) * 1000 > -2000);
    while (loop_has_slice(l))
        continue;
    EXPECT_INT(loop_now_ms(l), now_ms);
    int64_t later_ms = loop_wait(l, now_ms + 1); /* is over: no sleep */
    EXPECT(later_ms >= now_ms + 10);
    EXPECT(loop_has_slice(l));
    loop_free(l);
}

TEST(loop, a_peer_that_went_is_an_error_and_no_signal)
{
    struct loop *l = loop_new();
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    close(ends[0]);
    EXPECT_INT(write(ends[1], "x", 1), -1);
    EXPECT_INT(errno, EPIPE);
    close(ends[1]);
    loop_free(l);
}

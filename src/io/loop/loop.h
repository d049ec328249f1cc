#pragma once

#include "core/base/base.h"
#include "core/base/error.h"

/* One thread waits here for all that happens outside: bytes, timers, signals, children, changed
 * files. What it calls turns bytes into events; who decides does so between the turns.
 *
 *     for (;;) {
 *         int64_t now_ms = loop_wait(loop, engine_next_ms(engine));
 *         while (engine_step(engine, now_ms, &effects) && loop_has_slice(loop))
 *             continue;
 *     }
 *
 * Watchers, timers and tasks are structs of their owner, who takes them out before they go. All may
 * be added, changed and taken out from within any call. */

struct loop;

/* From here on SIGPIPE is ignored. */
struct loop *loop_new(void);

/* What was put off is done first. */
void loop_free(struct loop *l);

/* One turn: does what was put off or else sleeps until something happens or `until_ms` of
 * loop_now_ms() comes, samples the time, and calls whom it concerns. Returns the time. */
int64_t loop_wait(struct loop *l, int64_t until_ms);

/* Turns with news begin so far apart at least, below a second; at first 0. It costs more to wake up
 * than to look at what came. */
void loop_breathe(struct loop *l, int64_t breath_ms);

/* The time of this turn (io/loop/clock.h): it stands still during a turn. */
int64_t loop_now_ms(const struct loop *l);
int64_t loop_monotonic_ms(const struct loop *l);

/* Gives back the room of timers that are not set. */
void loop_trim(struct loop *l);

/* Has this turn lasted less than 10 ms? Who has much to do then goes on, else lets the loop turn.
 */
bool loop_has_slice(const struct loop *l);

/* The longest that a turn has lasted, from waking up to sleeping again. */
int64_t loop_longest_us(const struct loop *l);

/* Readiness of a file descriptor, until removed. */
enum { LOOP_READ = 1, LOOP_WRITE = 2 };

struct loop_fd {
    void (*ready)(void *ctx, uint32_t events); /* errors and hang-ups come as what was asked for */
    void *ctx;
    int fd;
    uint32_t events; /* what is waited for; 0: not in the loop */
};

/* Waits for `events` from now on; 0: for nothing any more. */
void loop_fd_set(struct loop *l, struct loop_fd *w, uint32_t events);

/* Calls once, at the first turn that begins `wait_ms` or more from now. Setting it again moves it.
 */
struct loop_timer {
    void (*fire)(void *ctx);
    void *ctx;
    int64_t at_us;
    uint64_t order; /* of equal times the earlier set is first */
    uint32_t slot;  /* + 1; 0: not set */
};

void loop_timer_set(struct loop *l, struct loop_timer *t, int64_t wait_ms);
void loop_timer_stop(struct loop *l, struct loop_timer *t);

static inline bool loop_timer_is_set(const struct loop_timer *t)
{
    return t->slot != 0;
}

/* Calls once, before the loop sleeps next: what many steps of a turn ask for is done once. */
struct loop_task {
    void (*run)(void *ctx);
    void *ctx;
    struct loop_task *next;
    bool is_put_off;
};

void loop_task_put_off(struct loop *l, struct loop_task *t);
void loop_task_stop(struct loop *l, struct loop_task *t);

/* Calls for each arrival of the signal, from now on, instead of what the system would do. */
void loop_on_signal(struct loop *l, int signal, void (*fn)(void *ctx, int signal), void *ctx);

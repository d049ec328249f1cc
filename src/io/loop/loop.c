/* Invariants between calls: an item of the heap is an index into `timers`, which is NULL where a
 * slot is free; a watcher is in epoll as long as its `events` are not 0; tasks form a list in the
 * order they were put off. */

#include "io/loop/loop.h"

#include <errno.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "core/base/heap.h"
#include "core/base/spare.h"
#include "core/base/vec.h"
#include "io/loop/clock.h"

enum {
    EVENTS_MOST = 64,
    SLICE_US = 10000,
};

struct signal_owner {
    int signal;
    void (*fn)(void *ctx, int signal);
    void *ctx;
};

struct loop {
    int epoll;
    struct clock clock;
    int64_t breath_us;
    int64_t news_us; /* when the last turn with news began */
    int64_t longest_us;

    struct epoll_event
        ready[EVENTS_MOST]; /* of this turn; .ptr is NULL once its watcher has gone */
    int ready_n;

    struct heap heap;
    VEC(struct loop_timer *) timers;
    VEC(uint32_t) free_slots;
    uint64_t timers_set;

    struct loop_task *first_task, *last_task;

    struct loop_fd signals_ready;
    sigset_t signals;
    VEC(struct signal_owner) signal_owners;
};

static int64_t read_us(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void sample_time(struct loop *l)
{
    clock_advance(&l->clock, read_us(CLOCK_MONOTONIC), read_us(CLOCK_REALTIME));
}

static bool is_earlier(const void *ctx, uint32_t a, uint32_t b)
{
    const struct loop *l = ctx;
    const struct loop_timer *x = l->timers.at[a], *y = l->timers.at[b];
    return x->at_us != y->at_us ? x->at_us < y->at_us : x->order < y->order;
}

/* A task that is put off while others run waits for the next turn. Has anything been done? */
static bool run_tasks(struct loop *l)
{
    struct loop_task *last = l->last_task, *t = NULL;
    while (t != last && l->first_task) {
        t = l->first_task;
        loop_task_stop(l, t);
        t->run(t->ctx);
    }
    return last;
}

struct loop *loop_new(void)
{
    struct loop *l = mem_alloc(sizeof(*l));
    l->epoll = epoll_create1(EPOLL_CLOEXEC);
    assert(l->epoll >= 0);
    signal(SIGPIPE, SIG_IGN); /* a peer that went is an error of the write */
    l->heap = (struct heap){.before = is_earlier, .ctx = l};
    l->signals_ready.fd = -1;
    sigemptyset(&l->signals);
    sample_time(l);
    return l;
}

void loop_free(struct loop *l)
{
    if (!l)
        return;
    while (run_tasks(l))
        continue;
    if (l->signals_ready.fd >= 0) {
        close(l->signals_ready.fd);
        sigprocmask(SIG_UNBLOCK, &l->signals, NULL);
    }
    close(l->epoll);
    heap_done(&l->heap);
    vec_done(&l->timers);
    vec_done(&l->free_slots);
    vec_done(&l->signal_owners);
    mem_free(l);
}

static int sleep_ms(const struct loop *l, int64_t until_ms)
{
    int64_t now_us = read_us(CLOCK_MONOTONIC), wait_us = INT64_MAX;
    int64_t passed_us = now_us - l->clock.monotonic_us;
    if (until_ms < INT64_MAX / 1000)
        wait_us = until_ms * 1000 - l->clock.now_us - passed_us;
    if (l->heap.n)
        wait_us = MIN(wait_us, l->timers.at[l->heap.at[0]]->at_us - now_us);
    if (wait_us == INT64_MAX)
        return -1;
    return wait_us <= 0 ? 0 : (int)MIN((wait_us + 999) / 1000, (int64_t)INT32_MAX);
}

static void call_ready(struct loop *l)
{
    for (int i = 0; i < l->ready_n; i++) {
        struct loop_fd *w = l->ready[i].data.ptr;
        if (!w)
            continue;
        uint32_t got = l->ready[i].events, events = 0;
        if (got & (EPOLLIN | EPOLLHUP | EPOLLERR | EPOLLRDHUP))
            events |= LOOP_READ;
        if (got & (EPOLLOUT | EPOLLHUP | EPOLLERR))
            events |= LOOP_WRITE;
        if (events & w->events)
            w->ready(w->ctx, events & w->events);
    }
    l->ready_n = 0;
}

/* A timer that is set while others fire waits for the next turn, as its time is later than this
 * turn's. */
static void fire_timers(struct loop *l)
{
    uint64_t set = l->timers_set;
    while (l->heap.n) {
        struct loop_timer *t = l->timers.at[l->heap.at[0]];
        if (t->at_us > l->clock.monotonic_us || t->order > set)
            return;
        loop_timer_stop(l, t);
        t->fire(t->ctx);
    }
}

/* Under load news comes in drops, and to wake up for each costs more than to look at it. What comes
 * after a quiet time is heard at once; what follows on its heels waits a breath for others. */
static void breathe(struct loop *l)
{
    int64_t now_us = read_us(CLOCK_MONOTONIC), left_us = l->news_us + l->breath_us - now_us;
    if (l->news_us) /* what comes before the first is no turn */
        l->longest_us = MAX(l->longest_us, now_us - l->clock.monotonic_us);
    if (left_us <= 0 || l->first_task)
        return;
    struct timespec pause = {.tv_nsec = left_us * 1000};
    nanosleep(&pause, NULL);
}

void loop_breathe(struct loop *l, int64_t breath_ms)
{
    assert(breath_ms >= 0 && breath_ms < 1000);
    l->breath_us = breath_ms * 1000;
}

int64_t loop_wait(struct loop *l, int64_t until_ms)
{
    bool has_run = run_tasks(l); /* then the caller may have something to do */
    breathe(l);
    int n = epoll_wait(l->epoll, l->ready, EVENTS_MOST, has_run ? 0 : sleep_ms(l, until_ms));
    assert(n >= 0 || errno == EINTR);
    l->ready_n = MAX(n, 0);
    sample_time(l);
    if (n > 0)
        l->news_us = l->clock.monotonic_us;
    call_ready(l);
    fire_timers(l);
    return loop_now_ms(l);
}

void loop_trim(struct loop *l)
{
    while (l->timers.n && !vec_last(&l->timers))
        l->timers.n--;
    vec_trim(&l->timers);
    spare_trim(&l->free_slots, l->timers.n);
    heap_trim(&l->heap, l->timers.n);
}

int64_t loop_now_ms(const struct loop *l)
{
    return l->clock.now_us / 1000;
}

int64_t loop_monotonic_ms(const struct loop *l)
{
    return l->clock.monotonic_us / 1000;
}

bool loop_has_slice(const struct loop *l)
{
    return read_us(CLOCK_MONOTONIC) - l->clock.monotonic_us < SLICE_US;
}

int64_t loop_longest_us(const struct loop *l)
{
    return l->longest_us;
}

void loop_fd_set(struct loop *l, struct loop_fd *w, uint32_t events)
{
    if (w->events == events)
        return;
    struct epoll_event wanted = {.data.ptr = w};
    wanted.events =
        (events & LOOP_READ ? EPOLLIN | EPOLLRDHUP : 0u) | (events & LOOP_WRITE ? EPOLLOUT : 0u);
    int how = !w->events ? EPOLL_CTL_ADD : events ? EPOLL_CTL_MOD : EPOLL_CTL_DEL;
    int rc = epoll_ctl(l->epoll, how, w->fd, &wanted);
    assert(rc == 0);
    w->events = events;
    for (int i = 0; i < l->ready_n && !events; i++) {
        if (l->ready[i].data.ptr == w)
            l->ready[i].data.ptr = NULL;
    }
}

void loop_timer_set(struct loop *l, struct loop_timer *t, int64_t wait_ms)
{
    assert(wait_ms >= 0 && wait_ms < INT64_MAX / 2000);
    loop_timer_stop(l, t);
    if (l->free_slots.n == 0) {
        vec_push(&l->free_slots, l->timers.n);
        vec_push(&l->timers, NULL);
    }
    uint32_t slot = vec_pop(&l->free_slots);
    t->at_us = l->clock.monotonic_us + wait_ms * 1000;
    t->order = ++l->timers_set;
    t->slot = slot + 1;
    l->timers.at[slot] = t;
    heap_add(&l->heap, slot);
}

void loop_timer_stop(struct loop *l, struct loop_timer *t)
{
    if (!loop_timer_is_set(t))
        return;
    uint32_t slot = t->slot - 1;
    heap_remove(&l->heap, slot);
    l->timers.at[slot] = NULL;
    vec_push(&l->free_slots, slot);
    t->slot = 0;
}

void loop_task_put_off(struct loop *l, struct loop_task *t)
{
    if (t->is_put_off)
        return;
    t->is_put_off = true;
    t->next = NULL;
    if (l->last_task)
        l->last_task->next = t;
    else
        l->first_task = t;
    l->last_task = t;
}

void loop_task_stop(struct loop *l, struct loop_task *t)
{
    if (!t->is_put_off)
        return;
    struct loop_task *before = NULL, **at = &l->first_task;
    while (*at != t) {
        before = *at;
        at = &before->next;
    }
    *at = t->next;
    if (l->last_task == t)
        l->last_task = before;
    t->is_put_off = false;
}

static void read_signals(void *ctx, uint32_t events)
{
    struct loop *l = ctx;
    struct signalfd_siginfo info;
    (void)events;
    while (read(l->signals_ready.fd, &info, sizeof(info)) == sizeof(info)) {
        for (uint32_t i = 0; i < l->signal_owners.n; i++) {
            struct signal_owner owner = l->signal_owners.at[i];
            if (owner.signal == (int)info.ssi_signo)
                owner.fn(owner.ctx, owner.signal);
        }
    }
}

void loop_on_signal(struct loop *l, int signal, void (*fn)(void *ctx, int signal), void *ctx)
{
    sigaddset(&l->signals, signal);
    sigprocmask(SIG_BLOCK, &l->signals, NULL);
    int fd = signalfd(l->signals_ready.fd, &l->signals, SFD_NONBLOCK | SFD_CLOEXEC);
    assert(fd >= 0);
    vec_push(&l->signal_owners, (struct signal_owner){signal, fn, ctx});
    l->signals_ready.fd = fd;
    l->signals_ready.ready = read_signals;
    l->signals_ready.ctx = l;
    loop_fd_set(l, &l->signals_ready, LOOP_READ);
}

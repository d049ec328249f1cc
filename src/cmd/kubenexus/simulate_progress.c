#include "cmd/kubenexus/simulate_progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "sim/stats.h"
#include "sim/text.h"

static const double draw_every_s = 0.1;

double progress_clock_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void progress_start(struct progress *p, const struct plan *plan, bool is_quiet)
{
    enum { LINES = 30 };
    int64_t span_ms = plan->jobs.n ? vec_last(&plan->jobs).at_ms : 0;
    if (plan->until_ms != INT64_MAX)
        span_ms = plan->until_ms;
    *p = (struct progress){.is_quiet = is_quiet, .is_terminal = isatty(STDERR_FILENO)};
    p->every_ms = MAX(stats_tick_ms(span_ms, LINES), 60000);
    p->next_line_ms = p->every_ms;
    p->start_s = p->next_draw_s = progress_clock_s();
}

static double share_of(const struct books *b, uint32_t resource)
{
    double room = b->timeline.at[books_room(b, resource)].value;
    return room > 0 ? b->timeline.at[books_used(b, resource)].value / room : 0;
}

/* A bar of 30 cells in eighths. */
static void add_bar(struct buf *out, double share)
{
    enum { CELLS = 30 };
    static const char *const parts[] = {" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"};
    int eighths = (int)(MIN(share, 1.0) * CELLS * 8 + 0.5);
    buf_printf(out, "\033[2m│\033[0m");
    for (int i = 0; i < CELLS; i++) {
        int left = eighths - i * 8;
        buf_add(out, str_of(parts[left <= 0 ? 0 : left >= 8 ? 8 : left]));
    }
    buf_printf(out, "\033[2m│\033[0m");
}

static void draw(struct progress *p, const struct world *w, double now_s)
{
    enum { RESOURCES_MOST = 5 };
    const struct books *b = world_books(w);
    struct engine_stats stats = world_engine_stats(w);
    struct buf out = {0};
    if (p->drawn)
        buf_printf(&out, "\033[%uA", p->drawn);
    buf_printf(&out, "\r\033[K  %-10s queue %s, running %s, %s decisions/s\n",
               text_clock(world_now_ms(w), 1000).s,
               text_count((uint64_t)b->timeline.at[BOOKS_WAITING].value).s,
               text_count((uint64_t)b->timeline.at[BOOKS_RUNNING].value).s,
               text_count((uint64_t)((double)stats.decisions / MAX(now_s - p->start_s, 0.001))).s);
    p->drawn = 1;
    for (uint32_t i = 0; i < MIN(b->resources.n, (uint32_t)RESOURCES_MOST); i++, p->drawn++) {
        buf_printf(&out, "\033[K  %-10.10s ", face_of(b->resources.at[i]).label);
        add_bar(&out, share_of(b, i));
        buf_printf(&out, " %s\n", text_share(share_of(b, i)).s);
    }
    fwrite(out.p, 1, out.n, stderr);
    buf_done(&out);
}

static void print_line(const struct world *w, int64_t at_ms)
{
    const struct books *b = world_books(w);
    fprintf(stderr, "%-9s queue %6s  running %7s", text_clock(at_ms, 60000).s,
            text_count((uint64_t)b->timeline.at[BOOKS_WAITING].value).s,
            text_count((uint64_t)b->timeline.at[BOOKS_RUNNING].value).s);
    for (uint32_t i = 0; i < b->resources.n; i++)
        fprintf(stderr, "  %s %s", face_of(b->resources.at[i]).label, text_share(share_of(b, i)).s);
    fputc('\n', stderr);
}

void progress_turn(struct progress *p, const struct world *w)
{
    enum { TURNS = 64 };
    if (p->is_quiet)
        return;
    if (!p->is_terminal) {
        if (world_now_ms(w) >= p->next_line_ms) {
            int64_t at_ms = world_now_ms(w) / p->every_ms * p->every_ms;
            print_line(w, at_ms);
            p->next_line_ms = at_ms + p->every_ms;
        }
        return;
    }
    if (p->turns++ % TURNS)
        return;
    double now_s = progress_clock_s();
    if (now_s < p->next_draw_s)
        return;
    draw(p, w, now_s);
    p->next_draw_s = now_s + draw_every_s;
}

void progress_end(struct progress *p)
{
    if (p->drawn)
        fprintf(stderr, "\033[%uA\r\033[J", p->drawn);
    p->drawn = 0;
}

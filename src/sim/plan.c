#include "sim/plan.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/buf.h"
#include "core/base/intern.h"

void plan_init(struct plan *p)
{
    *p = (struct plan){.until_ms = INT64_MAX, .group_word = "group"};
}

void plan_done(struct plan *p)
{
    vec_done(&p->nodes);
    vec_done(&p->groups);
    vec_done(&p->classes);
    vec_done(&p->templates);
    vec_done(&p->works);
    vec_done(&p->jobs);
    vec_done(&p->objects);
    vec_done(&p->notes);
    arena_done(&p->mem);
    *p = (struct plan){0};
}

uint32_t plan_class(struct plan *p, struct str name)
{
    for (uint32_t i = p->classes.n; i-- > 0;) {
        if (str_equal(p->classes.at[i], name))
            return i;
    }
    vec_push(&p->classes, arena_str(&p->mem, name));
    return p->classes.n - 1;
}

uint32_t plan_group(struct plan *p, struct str name)
{
    for (uint32_t i = p->groups.n; i-- > 0;) { /* mostly the newest */
        if (str_equal(p->groups.at[i], name))
            return i;
    }
    vec_push(&p->groups, arena_str(&p->mem, name));
    return p->groups.n - 1;
}

void plan_add_node(struct plan *p, const struct node *node, struct str group)
{
    vec_push(&p->nodes, (struct plan_node){.node = node, .group = plan_group(p, group)});
}

uint32_t plan_add_template(struct plan *p, const struct pod *pod)
{
    vec_push(&p->templates, pod);
    return p->templates.n - 1;
}

uint32_t plan_add_work(struct plan *p, uint32_t minimum)
{
    vec_push(&p->works, (struct plan_work){.at_ms = INT64_MAX, .minimum = MAX(minimum, 1u)});
    return p->works.n;
}

static void join_work(struct plan *p, struct plan_job *job)
{
    if (!job->work)
        job->work = plan_add_work(p, job->minimum);
    struct plan_work *work = &p->works.at[job->work - 1];
    job->first_member = work->pods;
    work->pods += job->pods;
    work->at_ms = MIN(work->at_ms, job->at_ms);
}

bool plan_add_job(struct plan *p, struct plan_job job, struct error *e)
{
    p->pods += job.pods;
    if (p->pods > PLAN_PODS_MOST)
        return error_set(e, ERROR_INVALID, "more than %d pods in all", PLAN_PODS_MOST);
    job.number = p->jobs.n;
    join_work(p, &job);
    vec_push(&p->jobs, job);
    return true;
}

void plan_note(struct plan *p, const char *fmt, ...)
{
    char text[400];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    vec_push(&p->notes, arena_str(&p->mem, str_of(text)));
}

static int job_compare(const void *a, const void *b)
{
    const struct plan_job *x = a, *y = b;
    if (x->at_ms != y->at_ms)
        return x->at_ms < y->at_ms ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

/* Neighbours become one group: "rack-0 – rack-3". */
static void join_groups(struct plan *p)
{
    uint32_t each = (p->groups.n + PLAN_GROUPS_MOST - 1) / PLAN_GROUPS_MOST;
    if (each <= 1)
        return;
    uint32_t joined = 0;
    for (uint32_t i = 0; i < p->groups.n; i += each) {
        uint32_t last = MIN(i + each, p->groups.n) - 1;
        p->groups.at[joined++] =
            i == last ? p->groups.at[i]
                      : arena_printf(&p->mem, STR_FMT " – " STR_FMT, STR_ARG(p->groups.at[i]),
                                     STR_ARG(p->groups.at[last]));
    }
    p->groups.n = joined;
    vec_each(&p->nodes, node)
        node->group /= each;
}

static bool is_gpu(struct str name)
{
    for (size_t i = 0; i + 3 <= name.n; i++) {
        if (!memcmp(name.p + i, "gpu", 3))
            return true;
    }
    return false;
}

static struct str choose_watched(const struct plan *p)
{
    vec_each(&p->nodes, n) {
        list_each(&n->node->status.allocatable, amount) {
            if (is_gpu(amount->name) && amount->quantity.nano > 0)
                return amount->name;
        }
    }
    return STR("cpu");
}

/* The text is new in the set, or two things share it. */
static bool is_new(struct intern *seen, struct str text, const char *what, struct error *e)
{
    bool is_first;
    intern_get(seen, text, &is_first);
    return is_first ||
           error_set(e, ERROR_INVALID, "two %s are called " STR_FMT, what, STR_ARG(text));
}

static bool check_names(const struct plan *p, struct error *e)
{
    struct intern nodes = {0}, jobs = {0};
    struct buf name = {0};
    bool is_fine = true;
    for (uint32_t i = 0; i < p->nodes.n && is_fine; i++)
        is_fine = is_new(&nodes, p->nodes.at[i].node->meta.name, "nodes", e);
    for (uint32_t i = 0; i < p->jobs.n && is_fine; i++) {
        const struct plan_job *job = &p->jobs.at[i];
        buf_clear(&name);
        buf_add(&name, p->templates.at[job->template]->meta.namespace);
        buf_add_char(&name, '/');
        buf_add(&name, job->name);
        is_fine = is_new(&jobs, buf_str(&name), "jobs or pods", e);
    }
    buf_done(&name);
    intern_done(&nodes);
    intern_done(&jobs);
    return is_fine;
}

bool plan_finish(struct plan *p, struct error *e)
{
    if (!check_names(p, e))
        return false;
    if (p->jobs.n)
        qsort(p->jobs.at, p->jobs.n, sizeof(*p->jobs.at), job_compare);
    join_groups(p);
    p->watched = choose_watched(p);
    return true;
}

static int pair_compare(const void *a, const void *b)
{
    return str_compare(((const struct pair *)a)->key, ((const struct pair *)b)->key);
}

void plan_sort_labels(pair_list *labels)
{
    if (labels->n)
        qsort(labels->at, labels->n, sizeof(*labels->at), pair_compare);
}

static int amount_compare(const void *a, const void *b)
{
    return str_compare(((const struct amount *)a)->name, ((const struct amount *)b)->name);
}

void plan_sort_amounts(amount_list *amounts)
{
    if (amounts->n)
        qsort(amounts->at, amounts->n, sizeof(*amounts->at), amount_compare);
}

struct quantity plan_quantity(int64_t value, int64_t nano_per_unit)
{
    return (struct quantity){.nano = (__int128)value * nano_per_unit};
}

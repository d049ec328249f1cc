#include "cmd/kubenexus/fgd_report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/csv.h"

static const double tolerance = 0.05;

/* As the published results spell them. */
static const char *const published_names[N_GPU_POLICIES] = {
    [GPU_FGD] = "fgd",         [GPU_BEST_FIT] = "bestfit",      [GPU_DOT_PROD] = "dotprod",
    [GPU_PACKING] = "packing", [GPU_CLUSTERING] = "clustering",
};

static bool read_real(const struct csv *c, uint32_t column, double *out)
{
    char text[32] = "";
    char *end;
    struct str cell = c->cells[column];
    memcpy(text, cell.p, MIN(cell.n, sizeof(text) - 1));
    *out = strtod(text, &end);
    if (end == text || *end)
        return error_set(c->e, ERROR_INVALID, "%s: line %u: " STR_FMT ": \"%s\" is no number",
                         c->file, c->line, STR_ARG(c->names[column]), text);
    return true;
}

bool fgd_report_read(struct fgd_report *r, const char *file, struct str csv, struct error *e)
{
    struct csv c;
    uint32_t trace, policy, seed, at_100, at_130;
    if (!csv_open(&c, file, csv, e) || !csv_need(&c, "trace", &trace) ||
        !csv_need(&c, "policy", &policy) || !csv_need(&c, "seed", &seed) ||
        !csv_need(&c, "alloc100", &at_100) || !csv_need(&c, "alloc130", &at_130))
        return false;
    while (csv_next(&c)) {
        struct fgd_published p = {.trace = c.cells[trace], .policy = c.cells[policy]};
        if (!csv_int(&c, seed, INT64_MAX, &p.seed) || !read_real(&c, at_100, &p.figures.at_100) ||
            !read_real(&c, at_130, &p.figures.at_130))
            return false;
        vec_push(&r->published, p);
    }
    return e->kind == ERROR_NONE;
}

void fgd_report_done(struct fgd_report *r)
{
    vec_done(&r->published);
    vec_done(&r->lines);
}

void fgd_report_head(void)
{
    puts("GPUs given away, in %, when pods have asked for 100 % and for 130 % of them\n\n"
         "trace        policy           at 100   at 130    published         difference   "
         "decisions/s");
}

void fgd_report_begin(struct fgd_report *r, enum gpu_policy policy)
{
    vec_push(&r->lines, (struct fgd_line){.policy = policy});
}

static const struct fgd_published *find(const struct fgd_report *r, const char *trace,
                                        const char *policy, int64_t seed)
{
    vec_each(&r->published, p)
        if (policy && p->seed == seed && str_equal(p->trace, str_of(trace)) &&
            str_equal(p->policy, str_of(policy)))
            return p;
    return NULL;
}

void fgd_report_add(struct fgd_report *r, const char *trace, int64_t seed, struct fgd_figures f)
{
    struct fgd_line *line = &vec_last(&r->lines);
    const struct fgd_published *p = find(r, trace, published_names[line->policy], seed);
    line->seeds++;
    line->mean.at_100 += f.at_100;
    line->mean.at_130 += f.at_130;
    if (!p)
        return;
    line->published++;
    line->expected.at_100 += p->figures.at_100;
    line->expected.at_130 += p->figures.at_130;
    line->worst = fmax(line->worst, fabs(f.at_100 - p->figures.at_100));
    line->worst = fmax(line->worst, fabs(f.at_130 - p->figures.at_130));
}

void fgd_report_end(struct fgd_report *r, const char *trace, double decisions_per_s)
{
    struct fgd_line *line = &vec_last(&r->lines);
    line->mean.at_100 /= line->seeds;
    line->mean.at_130 /= line->seeds;
    printf("%-12s %-15s %7.2f  %7.2f", trace, gpu_policy_names[line->policy], line->mean.at_100,
           line->mean.at_130);
    if (line->published == line->seeds) {
        line->expected.at_100 /= line->published;
        line->expected.at_130 /= line->published;
        printf("   %6.2f  %6.2f   %+6.2f  %+6.2f", line->expected.at_100, line->expected.at_130,
               line->mean.at_100 - line->expected.at_100,
               line->mean.at_130 - line->expected.at_130);
    } else {
        printf("        –       –        –       –");
    }
    printf("   %9.0f\n", decisions_per_s);
    fflush(stdout);
}

struct sums {
    uint32_t runs, compared;
    struct fgd_figures mean;
    double worst_run, worst_seed;
};

static struct sums sum_up(const struct fgd_report *r, enum gpu_policy policy)
{
    struct sums s = {0};
    vec_each(&r->lines, line) {
        if (line->policy != policy)
            continue;
        s.runs++;
        s.mean.at_100 += line->mean.at_100;
        s.mean.at_130 += line->mean.at_130;
        if (line->published != line->seeds)
            continue;
        s.compared++;
        s.worst_seed = fmax(s.worst_seed, line->worst);
        s.worst_run = fmax(s.worst_run, fabs(line->mean.at_100 - line->expected.at_100));
        s.worst_run = fmax(s.worst_run, fabs(line->mean.at_130 - line->expected.at_130));
    }
    return s;
}

bool fgd_report_table(const struct fgd_report *r)
{
    bool is_within = true;
    puts("\npolicy           traces   mean at 100   at 130   furthest from published: run, seed");
    for (enum gpu_policy policy = 0; policy < N_GPU_POLICIES; policy++) {
        struct sums s = sum_up(r, policy);
        if (s.runs == 0)
            continue;
        printf("%-15s  %6u  %12.3f  %7.3f", gpu_policy_names[policy], s.runs,
               s.mean.at_100 / s.runs, s.mean.at_130 / s.runs);
        if (s.compared)
            printf("   %26.3f  %.3f", s.worst_run, s.worst_seed);
        putchar('\n');
        is_within &= s.worst_run <= tolerance;
    }
    printf("\n%s\n", is_within ? "Every run is within 0.05 points of the published."
                               : "Some runs are more than 0.05 points from the published.");
    return is_within;
}

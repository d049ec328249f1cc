#pragma once

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/base/vec.h"
#include "core/plugins/args.h"

/* What runs of the FGD experiment came to, beside the published results. A run is a trace under a
 * policy; its figures are means over seeds. */

/* One seed's % of the GPUs given away when 100 % and 130 % have been asked for. */
struct fgd_figures {
    double at_100, at_130;
};

struct fgd_published {
    struct str trace, policy;
    int64_t seed;
    struct fgd_figures figures;
};

struct fgd_line {
    enum gpu_policy policy;
    uint32_t seeds, published; /* how many there are of each */
    struct fgd_figures mean, expected;
    double worst; /* a single seed's largest difference */
};

struct fgd_report {
    VEC(struct fgd_published) published;
    VEC(struct fgd_line) lines;
};

bool fgd_report_read(struct fgd_report *r, const char *file, struct str csv,
                     struct error *e) MUST_USE;
void fgd_report_done(struct fgd_report *r);

void fgd_report_head(void);

/* A run begins; its seeds follow. */
void fgd_report_begin(struct fgd_report *r, enum gpu_policy policy);
void fgd_report_add(struct fgd_report *r, const char *trace, int64_t seed, struct fgd_figures f);

/* Prints the run's line. */
void fgd_report_end(struct fgd_report *r, const char *trace, double decisions_per_s);

/* Prints a table by policy; false if a run's mean is further than 0.05 points from the published.
 */
bool fgd_report_table(const struct fgd_report *r);

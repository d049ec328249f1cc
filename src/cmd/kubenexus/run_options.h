#pragma once

#include "cmd/kubenexus/log.h"
#include "core/config/config.h"
#include "kube/lease.h"

/* The options of `kubenexus run`: kube-scheduler's flags, as far as they are there, and its
 * configuration file. */
struct run_options {
    const char *kubeconfig; /* NULL: the cluster we run in */
    bool has_config;
    struct scheduler_config config;
    struct arena mem;
    bool elects_leader;
    struct lease_config lease; /* without the identity */
    double qps;
    uint32_t burst;
    uint64_t seed;
    enum log_level log_level;
};

/* -1: run with them. Else the exit code: --help was asked for, or something is wrong and was said.
 */
int run_options_read(struct run_options *o, int argc, char **argv);

void run_options_done(struct run_options *o);

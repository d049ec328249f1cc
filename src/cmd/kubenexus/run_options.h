#pragma once

#include "cmd/kubenexus/flags.h"
#include "core/config/config.h"
#include "core/config/gates.h"
#include "kube/lease.h"

/* What `kubenexus run` runs with: its flags, and the configuration file that they name. */
struct run_options {
    struct flags flags;
    const char *config_file; /* NULL: none */
    struct scheduler_config config;
    struct feature_gates gates;

    const char *kubeconfig; /* NULL: the cluster we run in */
    const char *master;     /* a URL instead of its server; NULL: none */
    bool elects_leader;
    struct lease_config lease; /* without the identity */
    double qps;
    uint32_t burst;
};

/* -1: run with them. Else the exit code: --help was asked for, or something is wrong and was said.
 */
int run_options_read(struct run_options *o, int argc, char **argv);

/* The profiles that it serves: the file's, or without a file our own alone, so that it can stand
 * beside kube-scheduler. */
const struct profile *run_options_profiles(const struct run_options *o, uint32_t *n);

/* A record for each: its name, what it can do, and what it cannot. */
void run_options_say_profiles(const struct run_options *o);

void run_options_done(struct run_options *o);

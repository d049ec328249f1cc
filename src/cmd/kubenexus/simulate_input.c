#include "cmd/kubenexus/simulate_input.h"

#include <errno.h>
#include <stdio.h>

#include "sim/demo.h"
#include "sim/dump.h"
#include "sim/philly.h"
#include "sim/workload.h"

/* The file's text, which `in` keeps. */
static bool read_text(struct simulate_input *in, const char *name, struct str *text,
                      struct error *e)
{
    bool is_stdin = !strcmp(name, "-");
    FILE *file = is_stdin ? stdin : fopen(name, "rb");
    if (!file)
        return error_set(e, ERROR_INVALID, "%s: %s", name, strerror(errno));
    struct buf all = {0};
    char chunk[1 << 14];
    size_t got;
    while ((got = fread(chunk, 1, sizeof(chunk), file)) > 0 && all.n <= MANIFEST_BYTES_MOST)
        buf_add_bytes(&all, chunk, got);
    bool is_bad = ferror(file);
    if (is_bad)
        error_set(e, ERROR_INVALID, "%s: %s", name, strerror(errno));
    if (!is_stdin)
        fclose(file);
    vec_push(&in->texts, all);
    *text = buf_str(&all);
    if (!is_bad && all.n > MANIFEST_BYTES_MOST)
        return error_set(e, ERROR_INVALID, "%s: larger than %d bytes", name, MANIFEST_BYTES_MOST);
    return !is_bad;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

static bool add_dump(struct simulate_input *in, const struct simulate_files *files,
                     const char *name, struct str text, struct error *e)
{
    if (!objects_read_text(&in->objects, name, text, e))
        return false;
    vec_each(&in->objects.skipped, kind)
        plan_note(&in->plan, "%u × " STR_FMT " skipped: no plugin reads that kind", kind->n,
                  STR_ARG(kind->name));
    return dump_add(&in->plan, in->objects.all.at, in->objects.all.n, files->dump, e);
}

static bool read_scenario(struct simulate_input *in, const char *name, struct str text,
                          const uint64_t *seed, struct error *e)
{
    if (!scenario_read(&in->scenario, name, text, e))
        return false;
    if (!seed && in->scenario.has_seed)
        in->plan.seed = (uint64_t)in->scenario.seed;
    return workload_add(&in->plan, &in->scenario, e) || error_wrap(e, "%s", name);
}

static bool read_trace(struct simulate_input *in, const struct simulate_files *files,
                       struct error *e)
{
    struct str nodes, pods;
    return read_text(in, files->nodes, &nodes, e) && read_text(in, files->pods, &pods, e) &&
           trace_add_nodes(&in->plan, files->nodes, nodes, e) &&
           trace_add_pods(&in->plan, files->pods, pods, files->trace, e);
}

/* A scenario, a dump, or the demo. */
static bool read_main(struct simulate_input *in, const struct simulate_files *files,
                      const uint64_t *seed, struct error *e)
{
    struct str text;
    if (!files->scenario && files->cluster) {
        in->plan.until_ms = DUMP_UNTIL_MS;
        return true;
    }
    if (!files->scenario)
        return read_scenario(in, "demo", demo_scenario(), seed, e);
    if (!read_text(in, files->scenario, &text, e))
        return false;
    if (scenario_is(text))
        return read_scenario(in, files->scenario, text, seed, e);
    if (files->cluster)
        return error_set(e, ERROR_INVALID, "%s: not a scenario (--cluster %s is the cluster)",
                         files->scenario, files->cluster);
    in->plan.until_ms = DUMP_UNTIL_MS;
    return add_dump(in, files, files->scenario, text, e);
}

static bool read_files(struct simulate_input *in, const struct simulate_files *files,
                       const uint64_t *seed, struct error *e)
{
    struct str text;
    if (files->nodes)
        return read_trace(in, files, e);
    if (files->jobs)
        return read_text(in, files->jobs, &text, e) &&
               philly_add(&in->plan, files->jobs, text, files->gpus, e);
    if (files->cluster &&
        (!read_text(in, files->cluster, &text, e) || !add_dump(in, files, files->cluster, text, e)))
        return false;
    return read_main(in, files, seed, e);
}

bool simulate_input_read(struct simulate_input *in, const struct simulate_files *files,
                         const uint64_t *seed, struct error *e)
{
    plan_init(&in->plan);
    in->plan.seed = seed ? *seed : 1;
    if (!read_files(in, files, seed, e))
        return false;
    const char *from = files->scenario  ? files->scenario
                       : files->cluster ? files->cluster
                       : files->nodes   ? files->nodes
                       : files->jobs    ? files->jobs
                                        : "demo";
    if (in->plan.title.n == 0)
        in->plan.title = str_of(base_name(files->pods ? files->pods : from));
    if (in->plan.nodes.n == 0)
        return error_set(e, ERROR_INVALID, "%s: there are no nodes", from);
    return plan_finish(&in->plan, e) || error_wrap(e, "%s", from);
}

void simulate_input_done(struct simulate_input *in)
{
    plan_done(&in->plan);
    scenario_done(&in->scenario);
    objects_done(&in->objects);
    vec_each(&in->texts, text)
        buf_done(text);
    vec_done(&in->texts);
}

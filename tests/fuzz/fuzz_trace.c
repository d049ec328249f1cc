/* Any bytes as the files of a trace: a plan whose every job has a template and a class, or one line
 * that says what is wrong. */

#include "sim/trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void read_pods(struct str text, bool is_fill)
{
    struct plan p;
    struct error e = {0};
    plan_init(&p);
    if (trace_add_pods(&p, "file", text, (struct trace_options){is_fill, 1}, &e) &&
        plan_finish(&p, &e)) {
        for (uint32_t i = 0; i < p.jobs.n; i++) {
            const struct plan_job *j = &p.jobs.at[i];
            assert(j->template <p.templates.n && j->class < p.classes.n && j->runs_ms > 0);
            assert(i == 0 || p.jobs.at[i - 1].at_ms <= j->at_ms);
        }
    } else {
        assert(e.kind == ERROR_INVALID && e.text[0]);
    }
    plan_done(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct str text = {(const char *)bytes, n};
    struct plan p;
    struct error e = {0};
    plan_init(&p);
    if (trace_add_nodes(&p, "file", text, &e)) {
        vec_each(&p.nodes, node)
            assert(node->node->meta.name.n && node->group < p.groups.n);
    } else {
        assert(e.kind == ERROR_INVALID && e.text[0]);
    }
    plan_done(&p);
    read_pods(text, false);
    read_pods(text, true);
    return 0;
}

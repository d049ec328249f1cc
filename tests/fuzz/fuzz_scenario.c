/* Any bytes as a scenario: all of it makes sense, or one line says what is wrong and nothing is
 * left. */

#include "sim/scenario.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void check_job(const struct scenario_job *j)
{
    const struct scenario_arrival *a = &j->arrival;
    assert(j->name.n && j->sizes.n);
    assert(a->process != ARRIVAL_UNSAID);
    assert(a->process == ARRIVAL_BURST ? a->count > 0 : a->until_ms > a->from_ms);
    assert(j->duration.shape == SPAN_STAYS || j->duration.a_ms > 0);
    list_each(&j->sizes, size)
        assert(size->weight > 0 && size->pods > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct str text = {(const char *)bytes, n};
    struct scenario s = {0};
    struct error e = {0};
    int64_t ms;
    if (scenario_read(&s, "file", text, &e)) {
        assert(e.kind == ERROR_NONE);
        list_each(&s.nodes, node)
            assert(node->count > 0 && node->cpu.nano > 0 && node->pods.nano > 0);
        list_each(&s.jobs, job)
            check_job(job);
    } else {
        assert(e.kind == ERROR_INVALID && e.text[0]);
        assert(s.jobs.n == 0 && !s.mem.first && !s.json.p);
    }
    scenario_done(&s);
    if (scenario_duration(text, &ms))
        assert(ms >= 0);
    return 0;
}

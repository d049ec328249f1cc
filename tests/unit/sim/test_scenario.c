#include "sim/scenario.h"

#include <stdio.h>

#include "core/base/buf.h"
#include "core/model/tables.h"
#include "sim/scenario_fields.h"
#include "support/test.h"

TEST(scenario, says_what_the_file_says)
{
    static const char text[] =
        "kind: Scenario\n"
        "name: t\n"
        "seed: 9\n"
        "until: 1d\n"
        "nodes:\n"
        "- {name: m, count: 3, cpu: 7500m, memory: 1.5Gi, gpus: 2, racks: {size: 2}, zones: [a, "
        "b],\n"
        "   labels: {x: z}, taints: [{key: k, effect: NoSchedule}], resources: {rdma/ib: 4}}\n"
        "jobs:\n"
        "- name: j\n"
        "  arrival: {rate: 30/h, profile: [1, 0.5]}\n"
        "  sizes: [{weight: 3, pods: 2, requests: {cpu: 1}}, {requests: {cpu: 2}}]\n"
        "  duration: {median: 10m, p90: 1h}\n"
        "  priority: -5\n"
        "  gang: {minAvailable: 2}\n"
        "  template: {metadata: {labels: {team: red}}, spec: {containers: [], unknown: 1}}\n"
        "faults: {bindFailures: 0.25, nodeFailures: {meanTimeBetween: 30d, repair: 2h}}\n";
    AUTO(scenario) s = {0};
    struct error e = {0};
    EXPECT(scenario_read(&s, "f", str_of(text), &e));
    EXPECT_TEXT(e.text, "");
    EXPECT_INT(s.seed, 9);
    EXPECT_INT(s.until_ms, 86400000);
    REQUIRE(s.nodes.n == 1 && s.jobs.n == 1);
    EXPECT_INT(quantity_milli(s.nodes.at[0].cpu), 7500);
    EXPECT_INT(quantity_value(s.nodes.at[0].memory), 3LL << 29);
    EXPECT_INT(quantity_value(s.nodes.at[0].pods), 110);
    EXPECT_STR(s.nodes.at[0].gpu_resource, "nvidia.com/gpu");
    const struct scenario_job *j = &s.jobs.at[0];
    EXPECT_INT(j->arrival.process, ARRIVAL_POISSON);
    EXPECT_INT(j->arrival.per_ms * 3600e3 + 0.5, 30);
    EXPECT_INT(j->arrival.until_ms, 86400000);
    EXPECT_INT(j->sizes.n, 2);
    EXPECT_INT(j->sizes.at[0].pods, 2);
    EXPECT_INT(j->sizes.at[1].weight, 1);
    EXPECT_INT(j->duration.shape, SPAN_LOGNORMAL);
    EXPECT_INT(j->duration.b_ms, 3600000);
    EXPECT_INT(j->priority, -5);
    EXPECT_INT(j->gang->min_available, 2);
    EXPECT_STR(j->template->meta.labels.at[0].value, "red");
    EXPECT_REAL(s.faults.bind_share, 0.25);
    EXPECT_INT(s.faults.nodes.repair_ms, 7200000);
}

TEST(scenario, queues_are_as_they_say)
{
    static const char text[] = "nodes: [{name: m, cpu: 1, memory: 1Gi}]\n"
                               "queues:\n"
                               "- {name: ml, guaranteed: {cpu: 4}, max: {cpu: 8}}\n"
                               "- {name: a, parent: ml, weight: 3}\n"
                               "- {name: b, namespaces: {names: [x]}}\n"
                               "jobs: [{name: j, queue: a, user: ann}]\n";
    AUTO(scenario) s = {0};
    struct error e = {0};
    EXPECT(scenario_read(&s, "f", str_of(text), &e));
    EXPECT_TEXT(e.text, "");
    REQUIRE(s.queues.n == 3 && s.jobs.n == 1);
    const struct queue_object *ml = &s.queues.at[0], *a = &s.queues.at[1], *b = &s.queues.at[2];
    EXPECT_STR(ml->meta.name, "ml");
    EXPECT_INT(quantity_value(ml->spec.max.at[0].quantity), 8);
    EXPECT_INT(ml->status.as_of_ms, TIME_NONE);
    EXPECT_INT(ml->meta.deleted_ms, TIME_NONE);
    REQUIRE(ml->spec.namespaces && b->spec.namespaces); /* who is at the top takes all */
    EXPECT(ml->spec.namespaces->selector && !b->spec.namespaces->selector);
    EXPECT(!a->spec.namespaces);
    EXPECT_STR(a->spec.parent, "ml");
    EXPECT_INT(queue_weight(a), 3);
    EXPECT_STR(s.jobs.at[0].queue, "a");
    EXPECT_STR(s.jobs.at[0].user, "ann");
    EXPECT_STR(s.scheduler, "kubenexus-scheduler");
}

#define NODE "nodes: [{name: m, cpu: 1, memory: 1Gi}]\n"
#define JOB  "jobs:\n- name: j\n"

TEST(scenario, bad_files_are_refused_with_line_field_and_value)
{
    static const struct {
        const char *text, *error;
    } cases[] = {
        {"", "f: empty"},
        {"nodes: [", "f: line 2: did not find"},
        {"[]", "f: line 1: [] is not an object"},
        {"kind: Pod\nnodes: []\n", "f: line 1: kind: \"Pod\" is not Scenario"},
        {NODE "---\n" NODE, "f: line 3: a second document"},
        {NODE "job: []\n", "f: line 2: job: there is no such field"},
        {NODE JOB "  durration: 5m\n", "f: line 4: durration: there is no such field"},
        {NODE JOB "  duration: {median: 5m, p50: 1h}\n",
         "f: line 4: jobs[0].duration: p50: there is no such field"},
        {"until: 0s\n" NODE, "f: line 1: until: \"0s\" is not a duration above 0"},
        {"until: 5 m\n" NODE, "f: line 1: until: \"5 m\" is not a duration"},
        {"seed: -1\n" NODE, "f: line 1: seed: -1 is not a whole number of at least 0"},
        {"nodes:\n- {name: m, memory: 1Gi}\n", "f: line 2: nodes[0].cpu: missing"},
        {"nodes:\n- {name: m, cpu: 1}\n", "f: line 2: nodes[0].memory: missing"},
        {"nodes:\n- {cpu: 1, memory: 1Gi}\n", "f: line 1: nodes[0].name: a name of"},
        {"nodes:\n- {name: Big, cpu: 1, memory: 1Gi}\n", "f: line 2: nodes[0].name: a name of"},
        {"nodes:\n- {name: m, cpu: 12x, memory: 1Gi}\n",
         "f: line 2: nodes[0].cpu: \"12x\" is not a quantity"},
        {"nodes:\n- {name: m, cpu: -1, memory: 1Gi}\n",
         "f: line 2: nodes[0].cpu: -1 is not a quantity of at least 0"},
        {"nodes:\n- {name: m, cpu: 1, memory: 1Gi, count: 0}\n",
         "f: line 2: nodes[0].count: 0 is not a whole number from 1"},
        {"nodes:\n- {name: m, cpu: 1, memory: 1Gi, gpus: 1.5}\n",
         "f: line 2: nodes[0].gpus: 1.5 is not a whole number"},
        {"nodes:\n- {name: m, cpu: 1, memory: 1Gi, racks: {count: 2, size: 2}}\n",
         "f: line 2: nodes[0].racks: count or size, not both"},
        {"nodes:\n- {name: m, cpu: 1, memory: 1Gi, taints: [{key: k, effect: Never}]}\n",
         "f: line 2: nodes[0].taints: a taint has"},
        {"nodes:\n- {name: m, cpu: 1, memory: 1Gi, resources: {cpu: 2}}\n",
         "f: line 2: nodes[0].resources: cpu, memory"},
        {"nodes:\n- {name: m, cpu: 1, memory: 1Gi}\n- {name: m, cpu: 1, memory: 1Gi}\n",
         "f: line 3: nodes[1].name: another shape"},
        {NODE "jobs:\n- {name: a}\n- {name: a}\n", "f: line 4: jobs[1].name: other jobs"},
        {NODE JOB "  arrival: {process: never}\n",
         "f: line 4: jobs[0].arrival.process: \"never\" is not burst, uniform or poisson"},
        {NODE JOB "  arrival: {rate: 5}\n", "f: line 4: jobs[0].arrival.rate: 5 is not a rate"},
        {NODE JOB "  arrival: {rate: 5/h}\n", "f: line 3: jobs[0].arrival.until: missing"},
        {NODE JOB "  arrival: {rate: 5/h, count: 3, until: 1h}\n",
         "f: line 3: jobs[0].arrival: either rate or count"},
        {NODE JOB "  arrival: {rate: 5/h, from: 2h, until: 1h}\n",
         "f: line 3: jobs[0].arrival.until: is not after from"},
        {NODE JOB "  arrival: {rate: 5/h, until: 1h, profile: [0, 0]}\n",
         "f: line 3: jobs[0].arrival.profile: all its numbers are 0"},
        {NODE JOB "  arrival: {process: burst, rate: 5/h}\n",
         "f: line 3: jobs[0].arrival: a burst has"},
        {NODE JOB "  duration: soon\n", "f: line 4: jobs[0].duration: \"soon\" is not a duration"},
        {NODE JOB "  duration: {median: 2h}\n",
         "f: line 3: jobs[0].duration: {mean}, {median, p90}"},
        {NODE JOB "  duration: {min: 2h, max: 1h}\n", "f: line 3: jobs[0].duration: the second"},
        {NODE JOB "  pods: 2\n  sizes: [{pods: 1}]\n", "f: line 3: jobs[0].sizes: either sizes"},
        {NODE JOB "  requests: {cpu: lots}\n",
         "f: line 4: jobs[0].requests.cpu: \"lots\" is not a quantity"},
        {NODE JOB "  requests: {cpu: 1}\n  template: {spec: {containers: [{name: c}]}}\n",
         "f: line 3: jobs[0].requests: the template has containers"},
        {NODE JOB "  template: {spec: {nodeName: m}}\n",
         "f: line 3: jobs[0].template.spec.nodeName: the scheduler"},
        {NODE JOB "  template: {spec: {priority: high}}\n",
         "f: line 4: jobs[0].template.spec.priority: \"high\" is not a 32-bit integer"},
        {NODE "faults: {bindFailures: 2}\n", "f: line 2: faults.bindFailures: 2 is not a share"},
        {NODE "faults: {nodeFailures: {meanTimeBetween: 1d}}\n",
         "f: faults.nodeFailures.repair: missing"},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(scenario) s = {0};
        struct error e = {0};
        EXPECT(!scenario_read(&s, "f", str_of(cases[i].text), &e));
        if (!str_starts(str_of(e.text), str_of(cases[i].error)))
            EXPECT_TEXT(e.text, cases[i].error);
    }
}

TEST(scenario, queues_that_make_no_sense_are_refused_with_line_field_and_value)
{
    static const struct {
        const char *text, *error;
    } cases[] = {
        {NODE "queues: [{name: q, guarantee: {}}]\n",
         "f: line 2: guarantee: there is no such field"},
        {NODE "queues:\n- {name: q}\n- {name: p, weight: 0}\n",
         "f: line 4: queues[1].weight: 0 is not in 1 to 1000000"},
        {NODE "queues: [{name: q, max: {cpu: 1}, guaranteed: {cpu: 2}}]\n",
         "f: line 2: queues[0].max[cpu]: 1 is less than guaranteed"},
        {NODE "queues: [{name: root}]\n",
         "f: line 2: queues[0].name: \"root\" is what the top of the tree is called"},
        {NODE "queues: [{weight: 1}]\n", "f: line 1: queues[0].name: missing"},
        {NODE "queues: [{name: q}, {name: q}]\n",
         "f: line 2: queues[1].name: another queue has this name already"},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(scenario) s = {0};
        struct error e = {0};
        test_case("%s", cases[i].text);
        EXPECT(!scenario_read(&s, "f", str_of(cases[i].text), &e));
        EXPECT_TEXT(e.text, cases[i].error);
    }
}

TEST(scenario, is_told_from_a_dump_by_its_content)
{
    EXPECT(scenario_is(STR("kind: Scenario\n")));
    EXPECT(scenario_is(STR("nodes: []\n")));
    EXPECT(scenario_is(STR("jobs: []\n")));
    EXPECT(!scenario_is(STR("apiVersion: v1\nkind: List\nitems: []\n")));
    EXPECT(!scenario_is(STR("{\"apiVersion\": \"v1\", \"kind\": \"Node\"}")));
    EXPECT(!scenario_is(STR("")));
    EXPECT(!scenario_is(STR("- 1\n")));
    EXPECT(!scenario_is(STR("a: [")));
}

TEST(scenario, durations)
{
    static const struct {
        const char *text;
        int64_t ms;
    } good[] = {{"0", 0},          {"0s", 0},          {"250ms", 250},   {"90s", 90000},
                {"1.5h", 5400000}, {"1h30m", 5400000}, {"2d", 172800000}};
    static const char *const bad[] = {"",      "5",     "s",    "5x",          "-5s",
                                      "1h 5m", "1..5h", "1e3s", "99999999999d"};
    int64_t ms;
    for (size_t i = 0; i < LEN(good); i++) {
        EXPECT(scenario_duration(str_of(good[i].text), &ms));
        EXPECT_INT(ms, good[i].ms);
    }
    for (size_t i = 0; i < LEN(bad); i++)
        EXPECT(!scenario_duration(str_of(bad[i]), &ms));
}

/* Every field of a table, and of the tables in it, stands somewhere in the text. */
static void expect_fields(const struct field *fields, const char *text)
{
    for (const struct field *f = fields; f->name.p; f++) {
        char quoted[64], keyed[64], keyed_first[64];
        snprintf(quoted, sizeof(quoted), "`" STR_FMT "`", STR_ARG(f->name));
        snprintf(keyed, sizeof(keyed), " " STR_FMT, STR_ARG(f->name));
        snprintf(keyed_first, sizeof(keyed_first), "{" STR_FMT, STR_ARG(f->name));
        if (!strstr(text, quoted) && !strstr(text, keyed) && !strstr(text, keyed_first))
            EXPECT_TEXT("not in docs/reference/scenario.md", quoted);
        if (f->type == FIELD_MESSAGE && f->shape != FIELD_MAP && f->fields != pod_fields)
            expect_fields(f->fields, text);
    }
}

TEST(scenario, every_field_is_in_the_reference)
{
    FILE *file = fopen("docs/reference/scenario.md", "r"); /* tests run in the repository's root */
    REQUIRE(file != NULL);
    AUTO(buf) text = {0};
    char chunk[4096];
    for (size_t n; (n = fread(chunk, 1, sizeof(chunk), file)) > 0;)
        buf_add_bytes(&text, chunk, n);
    fclose(file);
    expect_fields(scenario_fields, text.p);
    expect_fields(duration_form_fields, text.p);
}

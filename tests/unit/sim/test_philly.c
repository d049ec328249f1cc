#include "sim/philly.h"

#include "support/test.h"

static const char jobs_csv[] = "submit_s,duration_s,gpus,vc\n"
                               "0,60,8,aa\n"
                               "5,30,1,bb\n"
                               "5,30,1,bb\n"
                               "7,10,32,aa\n";

TEST(philly, each_job_is_a_pod_on_a_pool_of_gpus)
{
    AUTO(plan) p = {0};
    struct error e = {0};
    plan_init(&p);
    REQUIRE(philly_add(&p, "j.csv", str_of(jobs_csv), 640, &e));
    REQUIRE(plan_finish(&p, &e));
    REQUIRE(p.nodes.n == 1 && p.jobs.n == 4);
    amount_list room = p.nodes.at[0].node->status.allocatable;
    EXPECT_STR(room.at[0].name, "nvidia.com/gpu");
    EXPECT_INT(quantity_value(room.at[0].quantity), 640);
    EXPECT_INT(p.templates.n, 3); /* the two of bb share one */
    const struct plan_job *last = &p.jobs.at[3];
    EXPECT_STR(last->name, "job-4");
    EXPECT_INT(last->at_ms, 7000);
    EXPECT_INT(last->runs_ms, 10000);
    EXPECT_STR(p.classes.at[last->class], "more than 16 GPUs");
    EXPECT_STR(p.classes.at[p.jobs.at[1].class], " 1 GPU");
    const struct pod *pod = p.templates.at[last->template];
    EXPECT_STR(pod->meta.namespace, "aa");
    EXPECT_STR(pod->spec.scheduler_name, "kubenexus-scheduler");
    EXPECT_INT(quantity_value(pod->spec.containers.at[0].resources.requests.at[0].quantity), 32);
}

TEST(philly, bad_files_are_refused_with_line_column_and_value)
{
    static const struct {
        const char *csv, *error;
    } cases[] = {
        {"", "j.csv: empty"},
        {"submit_s,duration_s,gpus\n0,1,1\n", "j.csv: line 1: there is no column vc"},
        {"submit_s,duration_s,gpus,vc\n0,x,1,a\n",
         "j.csv: line 2: duration_s: \"x\" is not a whole number from 0 to 10000000000"},
        {"submit_s,duration_s,gpus,vc\n0,1,9,a\n",
         "j.csv: line 2: gpus: \"9\" is not a whole number from 0 to 8"},
        {"submit_s,duration_s,gpus,vc\n0,1,0,a\n",
         "j.csv: line 2: a job needs at least a GPU, a second and a vc"},
        {"submit_s,duration_s,gpus,vc\n0,1,1\n", "j.csv: line 2: 3 cells instead of 4"},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(plan) p = {0};
        struct error e = {0};
        plan_init(&p);
        EXPECT(!philly_add(&p, "j.csv", str_of(cases[i].csv), 8, &e));
        EXPECT_TEXT(e.text, cases[i].error);
    }
}

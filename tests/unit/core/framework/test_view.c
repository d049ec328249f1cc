#include "core/framework/view.h"

#include "fakes.h"
#include "support/judge.h"
#include "support/test.h"

/* Two decisions: by then a class that may have a view has one. */
static void warm(struct judge *j, const char *pod)
{
    judge_view(j, pod);
    judge_view(j, pod);
    EXPECT(judge_class(j, pod)->view != NULL);
}

/* The view, caught up, says of every node what a scan says, and decides the same. */
static void expect_agreement(struct judge *j, const char *pod)
{
    const char *by_view = judge_view(j, pod);
    if (!EXPECT(by_view != NULL))
        return;
    char name[64];
    memcpy(name, by_view, strlen(by_view) + 1);
    EXPECT_TEXT(judge_scan(j, pod), name);
    EXPECT(views_agree(&j->views, judge_class(j, pod), &j->scan));
}

static void furnish(struct judge *j)
{
    for (int i = 0; i < 10; i++)
        ground_add(&j->ground, "node n%d cpu=%d label:z=%d", i, 4 + i % 3, i % 2);
    ground_add(&j->ground, "pod p cpu=1");
    ground_add(&j->ground, "pod other cpu=2");
}

TEST(view, says_what_a_scan_says)
{
    AUTO(judge) j = {.profile = &fake_profile};
    furnish(&j);
    warm(&j, "p");
    expect_agreement(&j, "p");
    EXPECT_INT(j.views.stats.built, 1);
}

TEST(view, follows_every_change_that_its_plugins_read)
{
    static const char *const changes[] = {
        "node n9 cpu=100 label:z=1", /* room */
        "node n8 cpu=1 label:z=0",
        "node n1 cpu=4 label:z=7",             /* another bucket, a new one */
        "node n3 cpu=4 label:z=1 label:bad=1", /* refused */
        "node n3 cpu=4 label:z=1",
        "node n4 cpu=0 label:z=0", /* refused by another plugin */
        "node n4 cpu=5 label:z=closed",
        "node n4 cpu=6",             /* no zone */
        "node new cpu=50 label:z=1", /* comes */
        "pod a cpu=40 on=new",       /* fills it */
        "pod b cpu=3 on=n9",
        "pod c cpu=9 on=new", /* full */
        "pod d cpu=1 nominated=n0",
        "pod e cpu=6 priority=1 nominated=n2",
    };
    AUTO(judge) j = {.profile = &fake_profile};
    furnish(&j);
    warm(&j, "p");
    for (size_t i = 0; i < LEN(changes); i++) {
        test_case("%s", changes[i]);
        uint64_t rows = j.views.stats.rows;
        ground_add(&j.ground, "%s", changes[i]);
        if (strstr(changes[i], "nominated")) { /* with key filters views do not know of those */
            judge_view(&j, "p");
        } else {
            expect_agreement(&j, "p");
            EXPECT_INT(j.views.stats.rows, rows + 1);
        }
    }
    EXPECT_INT(j.views.stats.built, 1);
}

TEST(view, does_not_look_at_rows_that_changed_elsewhere)
{
    AUTO(judge) j = {.profile = &fake_profile};
    furnish(&j);
    warm(&j, "p");
    uint64_t rows = j.views.stats.rows;
    ground_add(&j.ground, "node n1 cpu=5 label:z=1 taint:a=b:NoSchedule");
    ground_add(&j.ground, "node n2 cpu=6 label:z=0 cordoned image:x=1Mi");
    expect_agreement(&j, "p");
    EXPECT_INT(j.views.stats.rows, rows);
}

TEST(view, looks_once_at_a_row_that_changed_often)
{
    AUTO(judge) j = {.profile = &fake_profile};
    furnish(&j);
    warm(&j, "p");
    uint64_t rows = j.views.stats.rows;
    for (int i = 0; i < 5; i++)
        ground_add(&j.ground, "pod x%d cpu=500m on=n1", i);
    expect_agreement(&j, "p");
    EXPECT_INT(j.views.stats.rows, rows + 1);

    ground_add(&j.ground, "node n1 cpu=5 label:z=9"); /* labels: what the next does not say */
    ground_add(&j.ground, "pod y cpu=500m on=n1");
    expect_agreement(&j, "p");
    EXPECT_INT(j.views.stats.rows, rows + 3);
}

TEST(view, that_lags_by_too_many_nodes_is_built_anew)
{
    AUTO(judge) j = {.profile = &fake_profile};
    furnish(&j);
    for (int i = 10; i < 80; i++)
        ground_add(&j.ground, "node n%d cpu=4 label:z=1", i);
    warm(&j, "p");
    for (int i = 0; i < 64; i++) /* as far as it may lag with few nodes */
        ground_add(&j.ground, "pod x%d cpu=1m on=n%d", i, i);
    expect_agreement(&j, "p");
    EXPECT_INT(j.views.stats.built, 1);
    for (int i = 0; i < 65; i++)
        ground_add(&j.ground, "pod y%d cpu=1m on=n%d", i, i);
    uint64_t rows = j.views.stats.rows;
    expect_agreement(&j, "p");
    EXPECT_INT(j.views.stats.built, 2);
    EXPECT_INT(j.views.stats.rows, rows);
}

TEST(view, of_a_class_that_is_seldom_asked_for_is_given_up_for_scans)
{
    AUTO(judge) j = {.profile = &fake_profile};
    furnish(&j);
    for (int i = 10; i < 80; i++)
        ground_add(&j.ground, "node n%d cpu=4 label:z=1", i);
    warm(&j, "p");
    for (int i = 0; i < 65; i++)
        ground_add(&j.ground, "pod x%d cpu=1m on=n%d", i, i);
    for (int i = 0; i < 11; i++) /* more than an eighth of the nodes */
        judge_view(&j, "other");
    EXPECT(judge_view(&j, "p") == NULL);
    EXPECT(judge_class(&j, "p")->view == NULL);
    EXPECT_INT(j.views.stats.built, 2);
    expect_agreement(&j, "p"); /* its pods come together after all */
    EXPECT_INT(j.views.stats.built, 3);
}

TEST(view, that_lags_by_many_changes_of_few_nodes_catches_up)
{
    AUTO(judge) j = {.profile = &fake_profile};
    furnish(&j);
    warm(&j, "p");
    uint64_t rows = j.views.stats.rows;
    for (int i = 0; i < 500; i++)
        ground_add(&j.ground, "pod x%d cpu=1m on=n%d", i, i % 3);
    expect_agreement(&j, "p");
    EXPECT_INT(j.views.stats.built, 1);
    EXPECT_INT(j.views.stats.rows, rows + 3);
}

TEST(view, that_fell_out_of_the_log_is_built_anew)
{
    AUTO(judge) j = {.profile = &fake_profile};
    furnish(&j);
    warm(&j, "p");
    pod_id other = ground_pod(&j.ground, "other");
    for (int i = 0; i < 5000; i++) {
        cluster_place(j.ground.cluster, other, ground_node(&j.ground, "n9"));
        cluster_take(j.ground.cluster, other);
    }
    ground_add(&j.ground, "pod x cpu=3 on=n2");
    expect_agreement(&j, "p");
    EXPECT_INT(j.views.stats.built, 2);
}

TEST(view, a_trial_that_nobody_saw_costs_nothing)
{
    AUTO(judge) j = {.profile = &fake_profile};
    furnish(&j);
    warm(&j, "p");
    uint64_t rows = j.views.stats.rows;
    struct txn t = txn_begin(j.ground.cluster);
    cluster_place(j.ground.cluster, ground_pod(&j.ground, "other"), ground_node(&j.ground, "n2"));
    txn_undo(j.ground.cluster, t);
    expect_agreement(&j, "p");
    EXPECT_INT(j.views.stats.rows, rows);
}

TEST(view, a_trial_that_it_saw_is_taken_back)
{
    AUTO(judge) j = {.profile = &fake_profile};
    furnish(&j);
    warm(&j, "p");
    struct txn t = txn_begin(j.ground.cluster);
    cluster_place(j.ground.cluster, ground_pod(&j.ground, "other"), ground_node(&j.ground, "n2"));
    ground_add(&j.ground, "node fresh cpu=90 label:z=1");
    EXPECT_TEXT(judge_view(&j, "p"), "fresh");
    txn_undo(j.ground.cluster, t);
    expect_agreement(&j, "p");
}

TEST(view, forgets_a_node_that_left_and_meets_the_next_under_its_number)
{
    AUTO(judge) j = {.profile = &fake_profile};
    furnish(&j);
    ground_add(&j.ground, "node best cpu=90 label:z=1");
    warm(&j, "p");
    EXPECT_TEXT(judge_view(&j, "p"), "best");
    struct cluster *c = j.ground.cluster;
    node_id was = ground_node(&j.ground, "best");
    cluster_put_node(c, was, &NODE_ROW_ABSENT);
    expect_agreement(&j, "p");
    nodes_release(&c->nodes, &c->names, was);
    ground_add(&j.ground, "node next cpu=80 label:z=0 label:bad=1");
    EXPECT_INT(ground_node(&j.ground, "next").i, was.i);
    expect_agreement(&j, "p");
    ground_add(&j.ground, "node next cpu=80 label:z=1");
    EXPECT_TEXT(judge_view(&j, "p"), "next");
    expect_agreement(&j, "p");
}

TEST(view, a_number_may_change_hands_between_two_looks)
{
    AUTO(judge) j = {.profile = &fake_profile};
    furnish(&j);
    ground_add(&j.ground, "node old cpu=90 label:z=1");
    warm(&j, "p");
    struct cluster *c = j.ground.cluster;
    node_id was = ground_node(&j.ground, "old");
    cluster_put_node(c, was, &NODE_ROW_ABSENT);
    nodes_release(&c->nodes, &c->names, was);
    ground_add(&j.ground,
               "node new cpu=90 label:z=1"); /* the same row under another name and rank */
    c->nodes.tie_order[was.i] = 1;
    EXPECT_TEXT(judge_view(&j, "p"), "new");
    expect_agreement(&j, "p");
}

TEST(view, among_equals_the_first_in_tie_order_is_on_top)
{
    enum { NODES = 40 };
    static const uint64_t steps[] = {1, (uint64_t)1 << 40}; /* ranks equal above, or below */
    for (size_t s = 0; s < LEN(steps); s++) {
        AUTO(judge) j = {.profile = &fake_profile};
        for (int i = 0; i < NODES; i++)
            ground_add(&j.ground, "node n%d cpu=8 label:z=1", i);
        ground_add(&j.ground, "pod p cpu=1");
        for (uint64_t i = 0; i < NODES; i++)
            j.ground.cluster->nodes.tie_order[i] = (i * 17 % NODES) * steps[s];
        warm(&j, "p");
        for (uint64_t place = 0; place < NODES; place++) { /* each taken one falls behind */
            uint32_t wanted = 0;
            while (wanted * 17 % NODES != place)
                wanted++;
            struct cluster *c = j.ground.cluster;
            struct str name = names_text(&c->names, c->nodes.name[wanted]);
            EXPECT_STR(name, judge_view(&j, "p"));
            ground_add(&j.ground, "pod x%d cpu=1 on=" STR_FMT, (int)place, STR_ARG(name));
        }
        expect_agreement(&j, "p");
    }
}

TEST(view, reads_off_why_nothing_fits)
{
    AUTO(judge) j = {.profile = &fake_profile};
    furnish(&j);
    ground_add(&j.ground, "node bad label:bad=1");
    ground_add(&j.ground, "node shut cpu=99 label:z=closed");
    ground_add(&j.ground, "pod big cpu=50");
    warm(&j, "big");
    ground_add(&j.ground, "node n1 cpu=5 label:bad=1");
    EXPECT_TEXT(judge_view(&j, "big"), "");
    AUTO(why) why = {0};
    AUTO(buf) text = {0};
    views_why(&j.views, judge_class(&j, "big"), &why);
    why_text(&why, &j.classes.reasons, judge_class(&j, "big"), &text);
    EXPECT_STR(buf_str(&text), "0/12 nodes are available: 1 zone is closed, 2 is bad, 9 no room.");
}

/* --- who has one --- */

TEST(view, there_is_one_at_the_first_decision_while_there_is_room)
{
    AUTO(judge) j = {.profile = &fake_profile};
    furnish(&j);
    EXPECT(judge_view(&j, "p") != NULL);
    EXPECT(judge_view(&j, "other") != NULL);
    EXPECT_INT(j.views.at.n, 2);
}

TEST(view, where_room_is_short_a_class_must_come_back_within_the_window)
{
    AUTO(judge) j = {.profile = &fake_profile, .views = {.most = 1}};
    furnish(&j);
    warm(&j, "p");
    EXPECT(judge_view(&j, "other") == NULL); /* seen for the first time */
    j.views.decisions += 4096;
    EXPECT(judge_view(&j, "other") == NULL); /* too long ago */
    j.views.decisions += 4095;
    EXPECT(judge_view(&j, "other") != NULL);
    EXPECT_INT(j.views.stats.evicted, 1);
}

TEST(view, takes_the_place_only_of_one_that_was_idle_for_longer)
{
    AUTO(judge) j = {.profile = &fake_profile, .views = {.most = 1}};
    furnish(&j);
    warm(&j, "p");
    judge_view(&j, "other");
    EXPECT(judge_view(&j, "other") != NULL); /* p was idle since before its first decision */
    EXPECT_INT(j.views.stats.evicted, 1);
    EXPECT(judge_class(&j, "p")->view == NULL);
    EXPECT(judge_view(&j, "p") == NULL); /* other was used since p's last decision */
    EXPECT(judge_view(&j, "other") != NULL);
    EXPECT(judge_view(&j, "p") == NULL); /* in turns, the view stays where it is */
    EXPECT(judge_view(&j, "p") != NULL);
    EXPECT_INT(j.views.stats.evicted, 2);
    EXPECT_INT(j.views.at.n, 1);
}

TEST(view, that_was_dropped_before_it_was_used_again_makes_its_class_wait_longer)
{
    AUTO(judge) j = {.profile = &fake_profile, .views = {.most = 1}};
    furnish(&j);
    ground_add(&j.ground, "pod third cpu=3");
    warm(&j, "p");
    judge_view(&j, "other");
    EXPECT(judge_view(&j, "other") != NULL);
    EXPECT_INT(judge_class(&j, "p")->views.wasted, 0); /* it was of use */
    judge_view(&j, "third");
    EXPECT(judge_view(&j, "third") != NULL);
    EXPECT_INT(judge_class(&j, "other")->views.wasted, 1);
    judge_view(&j, "other");
    EXPECT(judge_view(&j, "other") == NULL); /* two in a row did not help the last time */
    EXPECT(judge_view(&j, "other") != NULL);
}

TEST(view, there_are_none_without_memory)
{
    AUTO(judge) j = {.profile = &fake_profile, .views = {.budget_bytes = 1}};
    furnish(&j);
    for (int i = 0; i < 5; i++)
        EXPECT(judge_view(&j, "p") == NULL);
    EXPECT_INT(j.views.bytes, 0);
}

TEST(view, memory_is_counted_and_given_back)
{
    AUTO(judge) j = {.profile = &fake_profile};
    furnish(&j);
    warm(&j, "p");
    size_t one = j.views.bytes;
    EXPECT(one > 0);
    warm(&j, "other");
    EXPECT(j.views.bytes > one);
    views_drop(&j.views, judge_class(&j, "other"));
    EXPECT_INT(j.views.bytes, one);
    views_drop(&j.views, judge_class(&j, "p"));
    EXPECT_INT(j.views.bytes, 0);
}

TEST(view, that_would_be_built_anew_need_not_be_kept)
{
    AUTO(judge) j = {.profile = &fake_profile};
    furnish(&j);
    for (int i = 10; i < 80; i++)
        ground_add(&j.ground, "node n%d cpu=4 label:z=1", i);
    warm(&j, "p");
    for (int i = 0; i < 64; i++)
        ground_add(&j.ground, "pod x%d cpu=1m on=n%d", i, i);
    views_trim(&j.views);
    EXPECT_INT(j.views.at.n, 1);
    warm(&j, "other");
    ground_add(&j.ground, "pod y cpu=1m on=n64");
    views_trim(&j.views); /* the older lags too far */
    EXPECT_INT(j.views.at.n, 1);
    EXPECT(judge_class(&j, "p")->view == NULL && judge_class(&j, "other")->view != NULL);
    expect_agreement(&j, "p");
}

TEST(view, a_class_with_too_many_buckets_is_scanned_for_a_while)
{
    AUTO(judge) j = {.profile = &fake_profile};
    for (int i = 0; i < 65; i++)
        ground_add(&j.ground, "node n%d cpu=8 label:z=%d", i, i);
    ground_add(&j.ground, "pod p cpu=1");
    for (int i = 0; i < 3; i++)
        EXPECT(judge_view(&j, "p") == NULL);
    uint64_t built = j.views.stats.built;
    EXPECT_INT(built, 1);                              /* it was tried */
    ground_add(&j.ground, "node n64 cpu=8 label:z=0"); /* 64 would do */
    EXPECT(judge_view(&j, "p") == NULL);               /* but not yet */
    j.views.decisions += 4096;
    warm(&j, "p");
    expect_agreement(&j, "p");
}

TEST(view, that_has_had_too_many_buckets_is_built_anew_without_the_empty_ones)
{
    AUTO(judge) j = {.profile = &fake_profile};
    furnish(&j);
    warm(&j, "p");
    for (int i = 0; i < 63; i++) { /* 2 + 63 zones, one after another */
        EXPECT_INT(j.views.stats.built, 1);
        ground_add(&j.ground, "node n1 cpu=4 label:z=%d", 100 + i);
        EXPECT(judge_view(&j, "p") != NULL);
    }
    EXPECT_INT(j.views.stats.built, 2);
    expect_agreement(&j, "p");
}

/* --- hostnames --- */

static void learn_hostnames(struct learning *l, void *cls)
{
    (void)cls;
    l->filters = l->reads_hostnames = true;
}

TEST(view, keys_that_assume_distinct_hostnames_need_them)
{
    static const struct plugin plugin = {.name = "Hosts", .learn = learn_hostnames};
    static const struct profile_plugin one[] = {{.plugin = &plugin, .number = 0}};
    static const struct profile profile = {STR("default-scheduler"), one, 1};
    AUTO(judge) j = {.profile = &profile};
    furnish(&j);
    warm(&j, "p");
    ground_add(&j.ground, "node twin host=n1");
    EXPECT(judge_view(&j, "p") == NULL);
    ground_add(&j.ground, "node twin host=twin");
    expect_agreement(&j, "p");
}

/* --- nominations --- */

TEST(view, a_nomination_changes_a_row_where_no_keys_filter)
{
    static const struct profile_plugin two[] = {{.plugin = &fake_label, .number = 0},
                                                {.plugin = &fake_room, .number = 1, .weight = 2}};
    static const struct profile profile = {STR("default-scheduler"), two, 2};
    AUTO(judge) j = {.profile = &profile};
    furnish(&j);
    ground_add(&j.ground, "node best cpu=50");
    warm(&j, "p");
    EXPECT_TEXT(judge_view(&j, "p"), "best");
    ground_add(&j.ground, "pod x cpu=50 nominated=best");
    expect_agreement(&j, "p");
    EXPECT(strcmp(judge_view(&j, "p"), "best") != 0);
    cluster_nominate(j.ground.cluster, ground_pod(&j.ground, "x"), SYM_NONE);
    EXPECT_TEXT(judge_view(&j, "p"), "best");
    ground_add(&j.ground, "pod low cpu=50 priority=-1 nominated=best"); /* less important */
    EXPECT_TEXT(judge_view(&j, "p"), "best");
    expect_agreement(&j, "p");
}

#include "core/cluster/groups.h"

#include <stdio.h>

#include "support/test.h"

struct people {
    struct names names;
    struct groups groups;
    sym namespace;
};

static void people_done(struct people *p)
{
    groups_done(&p->groups);
    names_done(&p->names);
}

static void people_init(struct people *p)
{
    names_init(&p->names);
    p->namespace = names_get(&p->names, STR("default"));
    intern_hold(&p->names.text, p->namespace);
}

static struct gang_identity identity(const char *name, int32_t minimum)
{
    return (struct gang_identity){.group = {GANG_LABEL, STR("k"), str_of(name)},
                                  .minimum = minimum};
}

static uint32_t put(struct people *p, uint32_t pod, const struct gang_identity *id, uint64_t owner)
{
    struct group_claim claim = {id, p->namespace, owner};
    return groups_put(&p->groups, &p->names, (pod_id){pod}, &claim);
}

TEST(groups, have_members_and_the_largest_size_that_one_of_them_names)
{
    AUTO(people) p = {0};
    people_init(&p);
    struct gang_identity three = identity("a", 3), five = identity("a", 5), b = identity("b", 0);
    uint32_t a = put(&p, 7, &three, 1);
    EXPECT_INT(put(&p, 2, &five, 1), a);
    EXPECT_INT(put(&p, 4, &three, 1), a);
    uint32_t other = put(&p, 5, &b, 1);
    EXPECT(other != a);
    const struct group *group = &p.groups.at.at[a];
    EXPECT_INT(group->members.n, 3);
    EXPECT_INT(group_minimum(group), 5);
    EXPECT(group_is_gang(group) && !group_is_gang(&p.groups.at.at[other]));
    EXPECT_INT(groups_of(&p.groups, (pod_id){4}), a);
    EXPECT_INT(groups_of(&p.groups, (pod_id){3}), ID_NONE);
    EXPECT_INT(groups_of(&p.groups, (pod_id){99}), ID_NONE);
}

TEST(groups, a_pod_that_names_another_group_moves)
{
    AUTO(people) p = {0};
    people_init(&p);
    struct gang_identity a = identity("a", 2), b = identity("b", 2);
    uint32_t first = put(&p, 0, &a, 0);
    put(&p, 1, &a, 0);
    uint32_t second = put(&p, 0, &b, 0);
    EXPECT_INT(p.groups.at.at[first].members.n, 1);
    EXPECT_INT(p.groups.at.at[first].members.at[0], 1);
    EXPECT_INT(p.groups.at.at[second].members.n, 1);
    EXPECT_INT(put(&p, 0, NULL, 0), ID_NONE);
    EXPECT_INT(p.groups.at.at[second].members.n, 0);
    struct group_claim claim = {&a, p.namespace, 0};
    EXPECT(groups_has(&p.groups, &p.names, (pod_id){1}, &claim));
    EXPECT(!groups_has(&p.groups, &p.names, (pod_id){0}, &claim));
}

TEST(groups, count_who_ended_for_one_owner_alone)
{
    AUTO(people) p = {0};
    people_init(&p);
    struct gang_identity a = identity("a", 3);
    uint32_t group = put(&p, 0, &a, 11);
    put(&p, 1, &a, 11);
    groups_remove(&p.groups, &p.names, (pod_id){0}, true);
    groups_remove(&p.groups, &p.names, (pod_id){1}, true);
    EXPECT_INT(p.groups.at.at[group].ended, 2);
    put(&p, 2, &a, 11); /* the last of the same run */
    EXPECT_INT(p.groups.at.at[group].ended, 2);
    groups_remove(&p.groups, &p.names, (pod_id){2}, false);
    EXPECT_INT(p.groups.at.at[group].ended, 2);
    put(&p, 3, &a, 12);
    EXPECT_INT(p.groups.at.at[group].ended, 0);
}

TEST(groups, an_objects_size_counts_where_it_should)
{
    static const struct {
        enum kind kind;
        int32_t said, written; /* written -1: there is no object */
        int32_t minimum;
        bool lacks_object;
    } cases[] = {
        {KIND_POD_GROUP, 3, 5, 5, false},         {KIND_POD_GROUP, 3, -1, 3, false},
        {KIND_POD_GROUP, 0, -1, 1, true},         {KIND_POD_GROUP, 0, 0, 1, false},
        {KIND_SIGS_POD_GROUP, 3, 5, 3, false},    {KIND_SIGS_POD_GROUP, 0, 5, 5, false},
        {KIND_VOLCANO_POD_GROUP, 0, -1, 1, true}, {KIND_JOB_SET, 3, 5, 5, false},
        {KIND_JOB_SET, 3, -1, 3, false}, /* what the pods are told will do */
        {KIND_JOB_SET, 0, -1, 1, true},           {KIND_NONE, 0, -1, 1, false},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(people) p = {0};
        people_init(&p);
        test_case("%zu", i);
        struct gang_identity id = identity("a", cases[i].said);
        id.object = cases[i].kind;
        uint32_t group = put(&p, 0, &id, 0);
        struct meta meta = {.name = STR("a"), .namespace = STR("default")};
        struct pod_group object = {.minimum = cases[i].written};
        bool differs;
        for (int again = 0; cases[i].written >= 0 && again < 2; again++) {
            EXPECT_INT(
                groups_put_object(&p.groups, &p.names, cases[i].kind, &meta, &object, &differs),
                group);
            EXPECT_INT(differs, again == 0);
        }
        EXPECT_INT(group_minimum(&p.groups.at.at[group]), cases[i].minimum);
        EXPECT_INT(group_lacks_object(&p.groups.at.at[group]), cases[i].lacks_object);
        uint32_t known =
            groups_put_object(&p.groups, &p.names, cases[i].kind, &meta, NULL, &differs);
        EXPECT_INT(known, cases[i].written >= 0 ? group : ID_NONE);
        EXPECT(!p.groups.at.at[group].has_object);
    }
}

TEST(groups, nobody_names_any_more_are_swept_with_their_texts)
{
    AUTO(people) p = {0};
    people_init(&p);
    for (uint32_t round = 0; round < 20; round++) {
        for (uint32_t i = 0; i < 500; i++) {
            char name[32];
            snprintf(name, sizeof(name), "g-%u-%u", round, i);
            struct gang_identity id = identity(name, 2);
            put(&p, i, &id, 0);
        }
        for (uint32_t i = 0; i < 500; i++)
            groups_remove(&p.groups, &p.names, (pod_id){i}, false);
        groups_tidy(&p.groups, &p.names, TIDY_IF_WANTED);
        names_tidy(&p.names, TIDY_IF_WANTED);
    }
    EXPECT(p.groups.at.n < 3000);
    EXPECT(p.names.text.live < 3000);
}

TEST(groups, of_which_the_parts_come_one_after_the_other_need_those_that_are_there)
{
    AUTO(people) p = {0};
    people_init(&p);
    struct meta meta = {.name = STR("a"), .namespace = STR("default")};
    struct group_part parts[] = {{STR("Launcher"), 1}, {STR("Worker"), 4}};
    struct pod_group object = {.minimum = 5, .parts = {parts, 2}};
    struct gang_identity id = identity("a", 0);
    id.object = KIND_MPI_JOB;
    id.role = (struct gang_place){GANG_LABEL, STR("role"), STR("worker")};
    bool differs;
    uint32_t group = put(&p, 0, &id, 0);
    EXPECT_INT(groups_put_object(&p.groups, &p.names, KIND_MPI_JOB, &meta, &object, &differs),
               group);
    EXPECT(differs);
    EXPECT_INT(group_minimum(&p.groups.at.at[group]), 4);
    id.role.value = STR("launcher");
    put(&p, 1, &id, 0);
    EXPECT_INT(group_minimum(&p.groups.at.at[group]), 5);
    parts[1].minimum = 6;
    groups_put_object(&p.groups, &p.names, KIND_MPI_JOB, &meta, &object, &differs);
    EXPECT(differs);
    EXPECT_INT(group_minimum(&p.groups.at.at[group]), 7);
    groups_put_object(&p.groups, &p.names, KIND_MPI_JOB, &meta, &object, &differs);
    EXPECT(!differs);
    parts[0].minimum = parts[1].minimum = INT32_MAX;
    groups_put_object(&p.groups, &p.names, KIND_MPI_JOB, &meta, &object, &differs);
    EXPECT_INT(group_minimum(&p.groups.at.at[group]), INT32_MAX);
    object.parts.n = 0; /* all together now */
    groups_put_object(&p.groups, &p.names, KIND_MPI_JOB, &meta, &object, &differs);
    EXPECT(differs);
    EXPECT_INT(group_minimum(&p.groups.at.at[group]), 5);
}

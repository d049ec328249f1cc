#include "core/cluster/names.h"

#include "support/test.h"

/* Enough entries that nobody holds for a sweep to be worth it. */
enum { MANY = 5000 };

static void make_rubbish(struct names *n)
{
    char text[16] = "x0000000";
    for (int i = 0; i < MANY; i++) {
        for (int k = 7, rest = i; k > 0; k--, rest /= 10)
            text[k] = (char)('0' + rest % 10);
        struct pair_sym pair = {names_get(n, str_of(text)), names_get(n, STR("v"))};
        names_label_set(n, &pair, 1);
    }
}

TEST(names, equal_text_is_one_symbol_and_unseen_text_is_none)
{
    struct names n;
    names_init(&n);
    sym a = names_get(&n, STR("zone")), b = names_get(&n, STR("zones"));
    EXPECT_INT(names_get(&n, STR("zone")), a);
    EXPECT(a != b);
    EXPECT_INT(names_find(&n, STR("zones")), b);
    EXPECT_INT(names_find(&n, STR("zon")), SYM_NONE);
    EXPECT_STR(names_text(&n, b), "zones");
    EXPECT_STR(names_text(&n, SYM_NONE), "");
    names_done(&n);
}

TEST(names, the_order_of_labels_does_not_make_another_set)
{
    struct names n;
    names_init(&n);
    sym k1 = names_get(&n, STR("k1")), k2 = names_get(&n, STR("k2")), v = names_get(&n, STR("v"));
    struct pair_sym one[] = {{k1, v}, {k2, k1}};
    struct pair_sym other[] = {{k2, k1}, {k1, v}};
    struct pair_sym swapped[] = {{k1, k1}, {k2, v}};
    label_set_id set = names_label_set(&n, one, 2);
    EXPECT_INT(names_label_set(&n, other, 2), set);
    EXPECT(names_label_set(&n, swapped, 2) != set);
    EXPECT(names_label_set(&n, one, 1) != set);
    EXPECT_INT(names_label_set(&n, NULL, 0), 0);
    names_done(&n);
}

TEST(names, a_label_is_found_wherever_it_stands_in_its_set)
{
    struct names n;
    names_init(&n);
    struct pair_sym pairs[9];
    sym keys[9], stranger = names_get(&n, STR("stranger"));
    static const char letters[] = "abcdefghi";
    for (uint32_t i = 0; i < LEN(pairs); i++) {
        keys[i] = names_get(&n, (struct str){letters + i, 1});
        pairs[LEN(pairs) - 1 - i] = (struct pair_sym){keys[i], keys[i / 2]};
    }
    for (uint32_t count = 0; count <= LEN(pairs); count++) {
        struct pair_sym some[LEN(pairs)]; /* the last keys: `pairs` is in falling order */
        memcpy(some, pairs, sizeof(some));
        label_set_id set = names_label_set(&n, some, count);
        for (uint32_t i = 0; i < LEN(pairs); i++) {
            bool is_in = i >= LEN(pairs) - count;
            EXPECT_INT(names_label(&n, set, keys[i]), is_in ? keys[i / 2] : SYM_NONE);
        }
        EXPECT_INT(names_label(&n, set, stranger), SYM_NONE);
    }
    names_done(&n);
}

TEST(names, taints_and_tolerations_keep_their_order)
{
    struct names n;
    names_init(&n);
    sym a = names_get(&n, STR("a")), b = names_get(&n, STR("b"));
    struct taint_sym ab[] = {{a, b, TAINT_NO_SCHEDULE}, {b, a, TAINT_NO_EXECUTE}};
    struct taint_sym ba[] = {{b, a, TAINT_NO_EXECUTE}, {a, b, TAINT_NO_SCHEDULE}};
    EXPECT_INT(names_taint_set(&n, NULL, 0), 0);
    EXPECT_INT(names_tolerations(&n, NULL, 0), 0);
    taint_set_id set = names_taint_set(&n, ab, 2);
    EXPECT_INT(names_taint_set(&n, ab, 2), set);
    EXPECT(names_taint_set(&n, ba, 2) != set);
    struct toleration_sym any[] = {{SYM_NONE, a, TOLERATES_EXISTS, TAINT_ANY}};
    tolerations_id tolerations = names_tolerations(&n, any, 1);
    uint32_t count;
    const struct toleration_sym *back =
        lists_at(&n.tolerations, tolerations, sizeof(*back), &count);
    EXPECT_INT(count, 1);
    EXPECT_INT(back->key, SYM_NONE);
    EXPECT_INT(back->op, TOLERATES_EXISTS);
    names_done(&n);
}

TEST(names, effects_are_read_as_they_are_spelt)
{
    static const struct {
        const char *text;
        enum taint_effect effect;
    } cases[] = {
        {"", TAINT_ANY},
        {"NoSchedule", TAINT_NO_SCHEDULE},
        {"PreferNoSchedule", TAINT_PREFER_NO_SCHEDULE},
        {"NoExecute", TAINT_NO_EXECUTE},
        {"noschedule", TAINT_OTHER},
        {"NoScheduleX", TAINT_OTHER},
    };
    for (size_t i = 0; i < LEN(cases); i++)
        EXPECT_INT(taint_effect_of(str_of(cases[i].text)), cases[i].effect);
}

TEST(names, a_sweep_frees_lists_nobody_holds_with_their_symbols)
{
    struct names n;
    names_init(&n);
    struct pair_sym kept = {names_get(&n, STR("kept")), names_get(&n, STR("value"))};
    label_set_id set = names_label_set(&n, &kept, 1);
    intern_hold(&n.label_sets.table, set);
    make_rubbish(&n);
    EXPECT(names_find(&n, STR("x0000007")) != SYM_NONE);

    names_tidy(&n, TIDY_IF_WANTED);

    EXPECT_INT(names_find(&n, STR("x0000007")), SYM_NONE);
    EXPECT_INT(names_find(&n, STR("kept")), kept.key);
    EXPECT_INT(names_label(&n, set, kept.key), kept.value);
    EXPECT_INT(names_label_set(&n, NULL, 0), 0); /* the empty set stays for ever */
    names_done(&n);
}

TEST(names, a_swept_number_means_what_it_is_given_next)
{
    struct names n;
    names_init(&n);
    make_rubbish(&n);
    uint32_t before = n.label_sets.table.entries.n;
    names_tidy(&n, TIDY_IF_WANTED);
    make_rubbish(&n);
    EXPECT_INT(n.label_sets.table.entries.n, before);
    sym key = names_get(&n, STR("x0000042")), v = names_get(&n, STR("v"));
    struct pair_sym pair = {key, v};
    EXPECT_INT(names_label(&n, names_label_set(&n, &pair, 1), key), v);
    names_done(&n);
}

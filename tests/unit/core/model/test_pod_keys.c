#include "core/model/pod_keys.h"

#include "support/objects.h"
#include "support/test.h"

TEST(pod_keys, each_spelling_is_there_once)
{
    for (uint32_t i = 0; i < n_pod_keys; i++)
        for (uint32_t k = 0; k < i; k++) {
            test_case(STR_FMT, STR_ARG(pod_keys[i].text));
            EXPECT(!str_equal(pod_keys[i].text, pod_keys[k].text));
        }
    EXPECT(n_pod_keys < 256); /* a sign's number is a byte */
}

TEST(pod_keys, each_spelling_is_read_where_it_may_stand)
{
    for (uint32_t i = 0; i < n_pod_keys; i++) {
        struct pair pair = {pod_keys[i].text, STR("v")};
        for (uint32_t place = IN_LABEL; place <= IN_ANNOTATION; place++) {
            struct pod pod = {0};
            *(place == IN_LABEL ? &pod.meta.labels : &pod.meta.annotations) = (pair_list){&pair, 1};
            struct pod_said said;
            pod_said_read(&pod, &said);
            test_case(STR_FMT " in %u", STR_ARG(pair.key), place);
            EXPECT_INT(pod_says(&said, pod_keys[i].meaning), (pod_keys[i].places & place) != 0);
        }
    }
}

TEST(pod_keys, of_two_spellings_the_first_counts_and_a_label_before_an_annotation)
{
    static const struct {
        const char *line, *value;
    } cases[] = {
        {"pod p label:tenant.kubenexus.io/tier=a note:tenant.kubenexus.io/tier=b", "a"},
        {"pod p note:tenant.kubenexus.io/tier=b", "b"},
        {"pod p label:scheduling.kubenexus.io/tier=a note:tenant.kubenexus.io/tier=b", "b"},
        {"pod p note:scheduling.kubenexus.io/tier=a", "a"},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(arena) mem = {0};
        struct pod_said said;
        test_case("%s", cases[i].line);
        pod_said_read(object_of(&mem, cases[i].line).pod, &said);
        EXPECT_STR(said.by[MEANS_TIER].value, cases[i].value);
    }
}

TEST(pod_keys, words_are_parts_of_names_not_pieces_of_words)
{
    static const struct {
        const char *text, *word;
        bool has;
    } cases[] = {
        {"jupyter-lab", "lab", true},
        {"gitlab", "lab", false},
        {"video-encoder", "ide", false},
        {"mysql-replica", "repl", false},
        {"identity", "ide", false},
        {"my.IDE", "ide", true},
        {"quay.io/jupyter/base:1", "jupyter", true},
        {"codercom/code-server:4", "code-server", true},
        {"code-serverless", "code-server", false},
        {"lab", "lab", true},
        {"", "lab", false},
        {"product-team", "prod", false},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s in %s", cases[i].word, cases[i].text);
        EXPECT_INT(text_has_word(str_of(cases[i].text), str_of(cases[i].word)), cases[i].has);
    }
}

TEST(pod_keys, the_first_of_the_words_is_found_wherever_it_stands)
{
    static const struct str words[] = {STR("lab"), STR("code-server"), STR("ide")};
    EXPECT_INT(text_find_word(STR("team/ide:lab"), words, LEN(words)), 0);
    EXPECT_INT(text_find_word(STR("IDE.Code-Server"), words, LEN(words)), 1);
    EXPECT_INT(text_find_word(STR("gitlab/code-servers"), words, LEN(words)), LEN(words));
    EXPECT_INT(text_find_word(STR(""), words, LEN(words)), LEN(words));
}

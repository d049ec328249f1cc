#include "core/wire/path.h"

#include "support/test.h"

#define NAME(text)                                                                                 \
    {                                                                                              \
        .name = STR(text)                                                                          \
    }
#define AT(n)                                                                                      \
    {                                                                                              \
        .index = n, .is_index = true                                                               \
    }

TEST(path, is_spelt_as_the_api_spells_it)
{
    static const struct {
        struct path_step steps[4];
        size_t n;
        const char *says;
    } cases[] = {
        {{NAME("spec")}, 0, "bad"},
        {{NAME("spec")}, 1, "spec: bad"},
        {{NAME("spec"), NAME("containers"), AT(3), NAME("image")},
         4,
         "spec.containers[3].image: bad"},
        {{NAME("labels"), NAME("app.kubernetes.io/name")},
         2,
         "labels[app.kubernetes.io/name]: bad"},
        {{NAME("labels"), NAME("a/b"), NAME("c")}, 3, "labels[a/b].c: bad"},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        struct error e;
        error_set(&e, ERROR_INVALID, "bad");
        test_case("%s", cases[i].says);
        EXPECT(!path_wrap(cases[i].steps, cases[i].n, &e));
        EXPECT_TEXT(e.text, cases[i].says);
    }
}

TEST(path, that_is_too_long_is_cut_and_the_error_stays)
{
    static const char name[101] = "a234567890123456789012345678901234567890123456789"
                                  "01234567890123456789012345678901234567890123456789";
    struct path_step steps[6];
    struct error e;
    for (size_t i = 0; i < LEN(steps); i++)
        steps[i] = (struct path_step){.name = str_of(name)};
    error_set(&e, ERROR_INVALID, "bad");
    EXPECT(!path_wrap(steps, LEN(steps), &e));
    EXPECT(str_starts(str_of(e.text), str_of(name)));
    EXPECT(strstr(e.text, ": bad") != NULL);
}

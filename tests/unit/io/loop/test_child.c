#include "io/loop/child.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "support/test.h"

struct end {
    struct buf output;
    char error[80];
    bool has_come;
};

static void see(void *ctx, struct str output, const char *error)
{
    struct end *end = ctx;
    buf_add(&end->output, output);
    snprintf(end->error, sizeof(end->error), "%s", error ? error : "");
    end->has_come = true;
}

TEST(child, says_what_it_printed_and_how_it_ended)
{
    static const struct {
        const char *script, *output, *error;
    } cases[] = {
        {"echo one; echo two", "one\ntwo\n", ""},
        {"printf x; exit 3", "x", "exit status 3"},
        {"kill -9 $$", "", "killed by signal 9"},
        {"exec sleep 100", "", "no answer within 200 ms"},
        {"yes | head -c 5000", NULL, "more than 1000 bytes of output"},
        {"echo $WHO", "me\n", ""},
        {"sleep 5 >&1 & echo parent", "parent\n", ""},
        {"cat", "", ""},
    };
    struct loop *l = loop_new();
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s", cases[i].script);
        char script[64];
        snprintf(script, sizeof(script), "%s", cases[i].script);
        char shell[] = "sh", flag[] = "-c", who[] = "WHO=me", path[] = "PATH=/usr/bin:/bin";
        char *argv[] = {shell, flag, script, NULL}, *env[] = {who, path, NULL};
        struct child_spec spec = {.argv = argv,
                                  .env = env,
                                  .output_most = 1000,
                                  .timeout_ms = i == 3   ? 200
                                                : i == 6 ? 3000
                                                         : 20000};
        struct error e = {0};
        struct end end = {0};
        REQUIRE(child_start(l, &spec, see, &end, &e));
        while (!end.has_come)
            loop_wait(l, INT64_MAX);
        if (cases[i].output)
            EXPECT_STR(buf_str(&end.output), cases[i].output);
        EXPECT_TEXT(end.error, cases[i].error);
        buf_done(&end.output);
    }
    loop_free(l);
}

TEST(child, that_cannot_be_started_is_an_error)
{
    struct loop *l = loop_new();
    char name[] = "no-such-program-anywhere";
    char *argv[] = {name, NULL};
    struct child_spec spec = {.argv = argv, .timeout_ms = 1000};
    struct error e = {0};
    EXPECT(!child_start(l, &spec, see, NULL, &e));
    EXPECT_TEXT(e.text, "no-such-program-anywhere: No such file or directory");
    loop_free(l);
}

TEST(child, that_is_stopped_makes_no_call)
{
    struct loop *l = loop_new();
    char name[] = "sleep", time[] = "100";
    char *argv[] = {name, time, NULL};
    struct child_spec spec = {.argv = argv, .timeout_ms = 1000000};
    struct error e = {0};
    struct end end = {0};
    struct child *c = child_start(l, &spec, see, &end, &e);
    REQUIRE(c);
    child_stop(c);
    loop_wait(l, 0);
    EXPECT(!end.has_come);
    loop_free(l);
}

static void say(const void *arg, int out)
{
    EXPECT(write(out, arg, strlen(arg)) > 0);
}

TEST(child, may_be_a_copy_of_ourselves_without_our_files)
{
    struct loop *l = loop_new();
    struct child_spec spec = {.run = say, .arg = "hello", .output_most = 100, .timeout_ms = 20000};
    struct error e = {0};
    struct end end = {0};
    REQUIRE(child_start(l, &spec, see, &end, &e));
    while (!end.has_come)
        loop_wait(l, INT64_MAX);
    EXPECT_STR(buf_str(&end.output), "hello");
    EXPECT_TEXT(end.error, "");
    buf_done(&end.output);
    loop_free(l);
}

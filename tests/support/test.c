/* Runs the registered tests in the order of their definition. The line "# name" before each test
 * tells the reader of the output who was running when a program dies. */

#include "support/test.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { FAILURES_SHOWN = 10 };

static struct test *first, **last = &first;
static unsigned failures;   /* of the running test */
static char case_text[200]; /* the row of a table it tries; empty: none */
static char name[256];      /* of the running test */

const char *test_name(void)
{
    return name;
}

void test_add(struct test *t)
{
    *last = t;
    last = &t->next;
}

void test_case(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(case_text, sizeof(case_text), fmt, args);
    va_end(args);
}

uint64_t test_seed(void)
{
    const char *text = getenv("KUBENEXUS_TEST_SEED");
    return text ? strtoull(text, NULL, 0) : 1;
}

static bool fail(const char *file, int line, const char *fmt, ...) PRINTF(3, 4);
static bool fail(const char *file, int line, const char *fmt, ...)
{
    if (failures++ >= FAILURES_SHOWN)
        return false;
    printf("# %s:%d: ", file, line);
    if (case_text[0])
        printf("[%s] ", case_text);
    va_list args;
    va_start(args, fmt);
    vprintf(fmt, args);
    va_end(args);
    printf("\n");
    return false;
}

bool test_expect(bool truth, const char *what, const char *file, int line)
{
    return truth || fail(file, line, "does not hold: %s", what);
}

bool test_expect_int(int64_t got, int64_t wanted, const char *what, const char *file, int line)
{
    return got == wanted ||
           fail(file, line, "%s: got %" PRId64 ", wanted %" PRId64, what, got, wanted);
}

bool test_expect_real(double got, double wanted, const char *what, const char *file, int line)
{
    return memcmp(&got, &wanted, sizeof(got)) == 0 ||
           fail(file, line, "%s: got %.17g (%a), wanted %.17g (%a)", what, got, got, wanted,
                wanted);
}

bool test_expect_str(struct str got, struct str wanted, const char *what, const char *file,
                     int line)
{
    return str_equal(got, wanted) ||
           fail(file, line, "%s:\n#    got \"" STR_FMT "\"\n# wanted \"" STR_FMT "\"", what,
                STR_ARG(got), STR_ARG(wanted));
}

bool test_expect_text(const char *got, const char *wanted, const char *what, const char *file,
                      int line)
{
    if (!got || !wanted)
        return got == wanted || fail(file, line, "%s: got %s, wanted %s", what, got ? got : "NULL",
                                     wanted ? wanted : "NULL");
    return test_expect_str(str_of(got), str_of(wanted), what, file, line);
}

static bool is_chosen(const char *full_name, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strstr(full_name, argv[i]))
            return true;
    return argc < 2;
}

int main(int argc, char **argv)
{
    unsigned count = 0, bad = 0;
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (struct test *t = first; t; t = t->next) {
        snprintf(name, sizeof(name), "%s.%s", t->suite, t->name);
        if (!is_chosen(name, argc, argv))
            continue;
        printf("# %s\n", name);
        failures = 0;
        case_text[0] = '\0';
        t->run();
        if (failures)
            printf("# %u failed, seed %" PRIu64 "\n", failures, test_seed());
        printf("%sok %u - %s\n", failures ? "not " : "", ++count, name);
        bad += failures > 0;
    }
    printf("1..%u\n", count);
    return bad > 0;
}

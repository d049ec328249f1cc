#pragma once

#include "core/base/base.h"
#include "core/base/str.h"

/* Tests that register themselves and report in TAP.
 *
 *     TEST(backoff, doubles_from_one_second)
 *     {
 *         EXPECT_INT(backoff_wait_ms(law, 1), 1000);
 *     }
 *
 * The name is the rule; results call it `backoff.doubles_from_one_second`. A failed EXPECT says
 * where, what it got and what it wanted, and the test goes on; a failed REQUIRE leaves the test. A
 * program of tests runs all of them, or those whose names contain one of its arguments. */

struct test {
    const char *suite, *name;
    void (*run)(void);
    struct test *next;
};

#define TEST(suite, name)                                                                          \
    static void suite##_##name(void);                                                              \
    __attribute__((constructor)) static void register_##suite##_##name(void)                       \
    {                                                                                              \
        static struct test test_ = {#suite, #name, suite##_##name, NULL};                          \
        test_add(&test_);                                                                          \
    }                                                                                              \
    static void suite##_##name(void)

/* Each gives whether it held. */
#define EXPECT(truth) test_expect((truth), #truth, __FILE__, __LINE__)
#define EXPECT_INT(got, wanted)                                                                    \
    test_expect_int((int64_t)(got), (int64_t)(wanted), #got, __FILE__, __LINE__)
#define EXPECT_REAL(got, wanted) test_expect_real((got), (wanted), #got, __FILE__, __LINE__)
/* A C string, NULL included, against a C string. */
#define EXPECT_TEXT(got, wanted) test_expect_text((got), (wanted), #got, __FILE__, __LINE__)
/* A struct str against a C string. */
#define EXPECT_STR(got, wanted) test_expect_str((got), str_of(wanted), #got, __FILE__, __LINE__)

#define REQUIRE(truth)                                                                             \
    do {                                                                                           \
        if (!EXPECT(truth))                                                                        \
            return;                                                                                \
    } while (0)

/* Names the row of a table that is being tried, for whatever fails from here on; ends with the
 * test.
 */
void test_case(const char *fmt, ...) PRINTF(1, 2);

/* "suite.name" of the running test. */
const char *test_name(void);

/* The seed of property tests: KUBENEXUS_TEST_SEED, or 1. A test that fails prints it. */
uint64_t test_seed(void);

void test_add(struct test *t);
bool test_expect(bool truth, const char *what, const char *file, int line);
bool test_expect_int(int64_t got, int64_t wanted, const char *what, const char *file, int line);
/* The same bits, so that -0 differs from 0 and a NaN equals itself. */
bool test_expect_real(double got, double wanted, const char *what, const char *file, int line);
bool test_expect_text(const char *got, const char *wanted, const char *what, const char *file,
                      int line);
bool test_expect_str(struct str got, struct str wanted, const char *what, const char *file,
                     int line);

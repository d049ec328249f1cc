#include "core/cluster/capacity.h"

#include "support/ground.h"
#include "support/test.h"

#define POLICY(text) ",'requestPolicy':{" text "}"
#define RANGE(text)  POLICY("'default':'1','validRange':{" text "}")

/* What a request of `asks` takes of a capacity of 10 with this policy: an amount in thousandths, or
 * less than nothing. */
enum { LACKS = -1, WRONG = -2 };

static const struct {
    const char *policy, *asks;
    int64_t milli;
} cases[] = {
    {"", NULL, 10000},
    {"", "3", 3000},
    {"", "10", 10000},
    {"", "10001m", LACKS},
    {POLICY("'default':'2'"), NULL, 2000},
    {POLICY("'default':'2'"), "3", 3000},
    {POLICY("'default':'1','validValues':['1','4','8']"), NULL, 1000},
    {POLICY("'default':'1','validValues':['1','4','8']"), "2", 4000},
    {POLICY("'default':'1','validValues':['1','4','8']"), "4", 4000},
    {POLICY("'default':'1','validValues':['1','4','8']"), "9", LACKS},
    {RANGE("'min':'2'"), "1", 2000},
    {RANGE("'min':'2'"), "2500m", 2500},
    {RANGE("'min':'2','max':'6'"), "7", LACKS},
    {RANGE("'min':'2','step':'3'"), "2", 2000},
    {RANGE("'min':'2','step':'3'"), "2001m", 5000},
    {RANGE("'min':'2','step':'3'"), "8", 8000},
    {RANGE("'min':'2','step':'3'"), "9", LACKS},           /* 11 */
    {RANGE("'min':'2','max':'7','step':'3'"), "6", LACKS}, /* 8 */
    {RANGE("'min':'500m','step':'250m'"), "600m", 750},
    {RANGE("'min':'500m','step':'250m'"), "600100u", WRONG},
    {RANGE("'min':'2','step':'3'"), "100000000000000000000", WRONG},
};

static int64_t taken(struct arena *mem, const char *policy, const char *asks)
{
    struct str text = arena_printf(
        mem,
        "{'apiVersion':'resource.k8s.io/v1','kind':'ResourceSlice','metadata':{'name':'s'},'spec':{"
        "'devices':[{'name':'d','allowMultipleAllocations':true,'capacity':{'m':{'value':'10'%s}}}"
        "]}}",
        policy);
    struct resource_slice *slice = object_of_json(mem, text.p).resource_slice;
    struct amount ask = {.name = STR("m")};
    amount_list requests = {&ask, asks != NULL};
    struct candidate x = {.slice = slice, .device = &slice->spec.devices.at[0]};
    struct str why = {0};
    if (asks && !quantity_parse(str_of(asks), &ask.quantity))
        return 0;
    enum capacity_verdict is = capacity_check_alone(&x, &requests, mem, &why);
    if (is != CAPACITY_FITS)
        return is == CAPACITY_WRONG ? WRONG : LACKS;
    return quantity_milli(capacity_amounts(&x, &requests, mem).at[0].quantity);
}

TEST(capacity, a_request_takes_what_the_policy_allows)
{
    struct arena mem = {0};
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s of %s", cases[i].asks ? cases[i].asks : "nothing", cases[i].policy);
        EXPECT_INT(taken(&mem, cases[i].policy, cases[i].asks), cases[i].milli);
    }
    arena_done(&mem);
}

TEST(capacity, shares_add_up_and_are_given_back)
{
    AUTO(ground) g = {0};
    struct cluster *c = ground_cluster(&g);
    struct device_capacity capacity = {.name = STR("m"), .value = {.nano = 4000000000}};
    struct device device = {.capacity = {&capacity, 1}, .is_shared = true};
    struct device_index index = {.id = ground_sym(&g, "d/p/d0")};
    struct candidate x = {.device = &device, .index = &index};
    struct amount two = {STR("m"), {.nano = 2000000000}};
    amount_list requests = {&two, 1}, other = {&two, 1};
    struct str why = {0};
    struct capacity_share *first = capacity_take(&x, &requests, &g.mem);
    EXPECT_INT(capacity_check(c, &x, &requests, &g.mem, &why), CAPACITY_FITS);
    struct capacity_share *second = capacity_take(&x, &requests, &g.mem);
    EXPECT_INT(capacity_check(c, &x, &requests, &g.mem, &why), CAPACITY_LACKS);
    capacity_take_back(&x, second);
    EXPECT_INT(capacity_check(c, &x, &requests, &g.mem, &why), CAPACITY_FITS);
    capacity_take_back(&x, first);
    EXPECT(!x.shares);
    two.name = STR("n");
    EXPECT_INT(capacity_check(c, &x, &other, &g.mem, &why), CAPACITY_LACKS); /* it has no such */
}

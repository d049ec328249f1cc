#include "core/model/cel.h"

#include "core/model/tables.h"
#include "core/wire/json_read.h"
#include "support/test.h"

/* A slice with one device to select. */
#define SLICE                                                                                      \
    "{\"spec\":{\"driver\":\"gpu.example.com\",\"devices\":[{\"name\":\"d0\",\"attributes\":{"     \
    "\"model\":{\"string\":\"A100 SXM\"},\"index\":{\"int\":3},\"ecc\":{\"bool\":true},"           \
    "\"driverVersion\":{\"version\":\"580.95.5\"},"                                                \
    "\"resource.kubernetes.io/pcieRoot\":{\"string\":\"pci0000:64\"}},"                            \
    "\"capacity\":{\"memory\":{\"value\":\"80Gi\"},\"other.example.com/"                           \
    "slots\":{\"value\":\"2\"}},"                                                                  \
    "\"allowMultipleAllocations\":true}]}}"

#define A "device.attributes['gpu.example.com']"
#define C "device.capacity['gpu.example.com']"

/* Y, N, the beginning of an error when asked, or with a ! before it of a refusal to compile. */
static const struct {
    const char *text, *answer;
} cases[] = {
    {"true", "Y"},
    {"device.driver == 'gpu.example.com'", "Y"},
    {"device.driver != \"gpu.example.com\"", "N"},
    {"device.allowMultipleAllocations", "Y"},
    {A ".model == 'A100 SXM'", "Y"},
    {A "['model'] == 'A100 SXM'", "Y"},
    {"device.attributes['resource.kubernetes.io'].pcieRoot == 'pci0000:64'", "Y"},
    {A ".model == 3", "N"},
    {A ".index == 3", "Y"},
    {A ".index == 3u", "Y"},
    {A ".index > 2 && " A ".index <= 3 && " A ".index < 4 && " A ".index >= 3", "Y"},
    {A ".index > -9223372036854775808", "Y"},
    {A ".index < '4'", "no such overload"},
    {A ".model < 'B'", "Y"},
    {A ".ecc", "Y"},
    {"!" A ".ecc", "N"},
    {"!" A ".index", "no such overload"},
    {A ".model", "the result is no bool"},
    {A ".nothing == 1", "no such key: nothing"},
    {"device.attributes['none.example.com'].nothing == 1", "no such key: nothing"},
    {A ".nothing == 1 || true", "Y"},
    {"true || " A ".nothing == 1", "Y"},
    {A ".nothing == 1 && false", "N"},
    {A ".nothing == 1 && true", "no such key: nothing"},
    {A ".index || true", "Y"},
    {A ".index && true", "no such overload"},
    {"has(" A ".model)", "Y"},
    {"has(" A ".nothing)", "N"},
    {"has(" A ".nothing.deeper)", "no such key: nothing"},
    {"has(device.attributes['none.example.com'].x)", "N"},
    {"has(" A ".nothing) && " A ".nothing == 1", "N"},
    {"'model' in " A, "Y"},
    {"'nothing' in " A, "N"},
    {"'gpu.example.com' in device.attributes", "Y"},
    {"'none.example.com' in device.attributes", "N"},
    {A ".index in [1, 2, 3]", "Y"},
    {A ".model in ['H100', \"A100 SXM\"]", "Y"},
    {"4 in [1, 2, 3]", "N"},
    {A ".?model.orValue('') == 'A100 SXM'", "Y"},
    {A ".?nothing.orValue('x') == 'x'", "Y"},
    {A ".?nothing.hasValue()", "N"},
    {A ".?nothing.value() == 1", "optional.none() dereference"},
    {"device.attributes[?'gpu.example.com'].?model.orValue('') == 'A100 SXM'", "Y"},
    {"device.attributes[?'none.example.com'].?model.orValue('') == ''", "Y"},
    {C ".memory.compareTo(quantity('80Gi')) >= 0", "Y"},
    {C ".memory.compareTo(quantity('80G')) == 1", "Y"},
    {C ".memory.isGreaterThan(quantity('40Gi'))", "Y"},
    {C ".memory.isLessThan(quantity('81920Mi'))", "N"},
    {C ".memory == quantity('81920Mi')", "Y"},
    {C ".memory == 1", "no such overload"},
    {"device.capacity['other.example.com'].slots.asInteger() + 1 == 3", "Y"},
    {C ".memory.sub(quantity('79Gi')).add(quantity('1Gi')) == quantity('2Gi')", "Y"},
    {"sign(" C ".memory) == 1 && " C ".memory.isInteger()", "Y"},
    {"!quantity('0.5Gi').isInteger() && quantity('512Mi').isInteger()", "Y"},
    {"quantity('1Gi').add(1).asInteger() == 1073741825 && quantity('2').sub(2) == quantity('0')",
     "Y"},
    {"quantity('x') == quantity('1')", "\"x\" is not a quantity"},
    {"isQuantity('80Gi') && !isQuantity('x')", "Y"},
    {A ".driverVersion.compareTo(semver('580.9.0')) > 0", "Y"},
    {A ".driverVersion.isGreaterThan(semver('580.100.0'))", "N"},
    {A ".driverVersion.isLessThan(semver('581.0.0'))", "Y"},
    {A ".driverVersion.major() == 580 && " A ".driverVersion.minor() == 95", "Y"},
    {"semver('1.2')==semver('1.2.0')", "\"1.2\" is not a semantic version"},
    {"isSemver('1.2.3') && !isSemver('1.2')", "Y"},
    {A ".model.lowerAscii().matches('^.*a100.*$')", "Y"},
    {A ".model.matches('h100')", "N"},
    {A ".model.startsWith('A1') && " A ".model.endsWith('SXM')", "Y"},
    {A ".model.contains('00 S') && !" A ".model.contains('x')", "Y"},
    {A ".model.contains('')", "Y"},
    {A ".model.upperAscii() == 'A100 SXM'", "Y"},
    {A ".model.size() == 8 && size('\\u00e9') == 1 && size([1, 2]) == 2", "Y"},
    {"size(" A ") == 4", "Y"},
    {A ".index.startsWith('a')", "no such overload"},
    {A ".ecc ? " A ".index == 3 : false", "Y"},
    {A ".index ? true : false", "no such overload"},
    {"false ? " A ".nothing : true", "Y"},
    {"cel.bind(a, " A ", a.ecc && a.index == 3)", "Y"},
    {"cel.bind(a, 1, cel.bind(b, a + 1, a == 1 && b == 2))", "Y"},
    {"cel.bind(a, " A ".nothing, true)", "Y"},
    {"1 + 2 * 3 - 4 / 2 == 5 && 7 % 4 == 3 && -(-1) == 1", "Y"},
    {"1 / 0 == 1", "division by zero"},
    {"9223372036854775807 + 1 == 0", "integer overflow"},
    {"'a' + 'b' == 'ab' && r'\\n' == '\\\\n' && 'it''' == ''", "!unexpected"},
    {"'a' + \"b\" == 'ab' && r'\\n' == '\\\\n' && '\\x41\\101' == 'AA'", "Y"},
    {"\"\"\"a'b\"c\"\"\" == 'a\\'b\"c'", "Y"},
    {"0x1F == 31 && [1, 2][1] == 2 && [1] == [1] && null == null", "Y"},
    {"[1][1] == 1", "index out of bounds: 1"},
    {"// a comment\ntrue", "Y"},
    {"(((true)))", "Y"},
    {"true && (false || true)", "Y"},
    {"", "!the expression is empty"},
    {"true true", "!unexpected"},
    {"tru", "!undeclared reference to"},
    {"device.driver.foo()", "!not supported yet: CEL function \"foo\""},
    {"[1].exists(x, x == 1)", "!undeclared reference to"},
    {"1.5 > 1", "!not supported yet: CEL double"},
    {"'a", "!a text without an end"},
    {"'\\q' == ''", "!no text"},
    {"(true", "!expected )"},
    {"9223372036854775808 == 1", "!no number"},
    {"has(device)", "!has() without a field"},
    {"'a'.matches('(')", "!matches() of another pattern"},
    {"a ? b", "!undeclared"},
    {"true ? false", "!expected :"},
    {"true ; false", "!unexpected"},
};

static struct resource_slice read_slice(struct arena *mem)
{
    struct resource_slice slice = {0};
    struct error e = {0};
    size_t where;
    EXPECT(json_read(STR(SLICE), resource_slice_fields, &slice, mem, &where, &e));
    return slice;
}

TEST(cel, says_what_upstream_says)
{
    struct arena mem = {0};
    struct resource_slice slice = read_slice(&mem);
    REQUIRE(slice.spec.devices.n == 1);
    for (size_t i = 0; i < LEN(cases); i++) {
        struct str why = {0};
        test_case("%s", cases[i].text);
        const struct cel *cel = cel_compile(str_of(cases[i].text), &mem, &why);
        if (!cel) {
            EXPECT_INT(cases[i].answer[0], '!');
            if (!str_starts(why, str_of(cases[i].answer + 1)))
                EXPECT_STR(why, cases[i].answer + 1);
            continue;
        }
        enum cel_outcome is =
            cel_match(cel, slice.spec.driver, &slice.spec.devices.at[0], &mem, &why);
        struct str got = is == CEL_YES ? STR("Y") : is == CEL_NO ? STR("N") : why;
        EXPECT_STR(got, cases[i].answer);
    }
    arena_done(&mem);
}

static struct str repeated(struct arena *mem, const char *part, uint32_t times, const char *end)
{
    struct buf b = {0};
    for (uint32_t i = 0; i < times; i++)
        buf_add(&b, str_of(part));
    buf_add(&b, str_of(end));
    struct str text = arena_str(mem, buf_str(&b));
    buf_done(&b);
    return text;
}

TEST(cel, bounds_what_it_reads)
{
    struct arena mem = {0};
    struct str why = {0};
    EXPECT(cel_compile(repeated(&mem, "true||", 900, "true"), &mem, &why));
    EXPECT(!cel_compile(repeated(&mem, "true||", 1200, "true"), &mem, &why));
    EXPECT(!cel_compile(repeated(&mem, "true||", 2000, "true"), &mem, &why));
    EXPECT_STR(why, "the expression is too long");
    EXPECT(cel_compile(repeated(&mem, "!", 200, "true"), &mem, &why));
    EXPECT(!cel_compile(repeated(&mem, "!", 300, "true"), &mem, &why));
    EXPECT(!cel_compile(repeated(&mem, "(", 9000, "true"), &mem, &why));
    arena_done(&mem);
}

/* Of each variable ten times the one before it; then what is to be said of the last. */
static struct str towering(struct arena *mem, const char *base, const char *open, const char *by,
                           const char *close, const char *end)
{
    AUTO(buf) b = {0};
    buf_printf(&b, "cel.bind(v0, %s, ", base);
    for (int i = 1; i < 16; i++) {
        buf_printf(&b, "cel.bind(v%d, %s", i, open);
        for (int k = 0; k < 10; k++)
            buf_printf(&b, "%sv%d", k ? by : "", i - 1);
        buf_printf(&b, "%s, ", close);
    }
    buf_add(&b, str_of(end));
    for (int i = 0; i < 16; i++)
        buf_add_char(&b, ')');
    return arena_str(mem, buf_str(&b));
}

TEST(cel, bounds_what_it_makes)
{
    struct arena mem = {0};
    struct resource_slice slice = read_slice(&mem);
    struct str texts[] = {
        towering(&mem, "'abcdefgh'", "", " + ", "", "v15 == 'a'"),
        towering(&mem, "'abcdefgh'", "", " + ", "", "v15.contains('h')"),
        towering(&mem, "[1]", "[", ", ", "]", "v15 == v15"),
        towering(&mem, "[1]", "[", ", ", "]", "v14 in v15"),
    };
    for (size_t i = 0; i < LEN(texts); i++) {
        struct str why = {0};
        size_t before = mem.used_bytes;
        const struct cel *cel = cel_compile(texts[i], &mem, &why);
        test_case(STR_FMT ": " STR_FMT, STR_ARG(texts[i]), STR_ARG(why));
        REQUIRE(cel);
        EXPECT_INT(cel_match(cel, slice.spec.driver, &slice.spec.devices.at[0], &mem, &why),
                   CEL_FAILED);
        EXPECT_STR(why, "operation cancelled: actual cost limit exceeded");
        EXPECT(mem.used_bytes - before < 1 << 20);
    }
    arena_done(&mem);
}

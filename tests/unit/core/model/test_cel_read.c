#include "core/model/cel_inside.h"

#include "support/test.h"

/* The tree as text: (op arg arg …); a literal, a name or a called function as itself. */
static void write(const struct cel_node *n, struct buf *out)
{
    static const char *const ops[] = {
        [OP_LIST] = "list",
        [OP_SELECT] = ".",
        [OP_INDEX] = "[]",
        [OP_NOT] = "!",
        [OP_OPTIONAL_SELECT] = ".?",
        [OP_OPTIONAL_INDEX] = "[?]",
        [OP_HAS] = "has",
        [OP_BIND] = "bind",
        [OP_MATCHES] = "matches",
        [OP_MINUS] = "neg",
        [OP_AND] = "&&",
        [OP_OR] = "||",
        [OP_CHOOSE] = "?",
        [OP_EQUAL] = "==",
        [OP_UNEQUAL] = "!=",
        [OP_LESS] = "<",
        [OP_AT_MOST] = "<=",
        [OP_GREATER] = ">",
        [OP_AT_LEAST] = ">=",
        [OP_IN] = "in",
        [OP_ADD] = "+",
        [OP_SUBTRACT] = "-",
        [OP_MULTIPLY] = "*",
        [OP_DIVIDE] = "/",
        [OP_MODULO] = "%",
    };
    const struct cel_value *v = &n->literal;
    if (n->op == OP_LITERAL) {
        if (v->type == CEL_STRING)
            buf_printf(out, "'" STR_FMT "'", STR_ARG(v->text));
        else if (v->type == CEL_BOOL)
            buf_printf(out, "%s", v->yes ? "true" : "false");
        else
            buf_printf(out,
                       v->type == CEL_UINT ? "%lu"
                                             "u"
                                           : "%ld",
                       v->number);
    } else if (n->op == OP_DEVICE || n->op == OP_VARIABLE) {
        buf_printf(out, n->op == OP_DEVICE ? "device" : "$%u", n->slot);
    } else {
        buf_printf(out, "(%s", n->op == OP_CALL ? n->call->name.p : ops[n->op]);
        if (n->op == OP_SELECT || n->op == OP_HAS || n->op == OP_OPTIONAL_SELECT)
            buf_printf(out, " " STR_FMT, STR_ARG(n->name));
        for (uint32_t i = 0; i < n->n; i++) {
            buf_add_char(out, ' ');
            write(n->args[i], out);
        }
        buf_add_char(out, ')');
    }
}

static void expect_tree(const char *text, const char *tree)
{
    AUTO(arena) mem = {0};
    AUTO(buf) out = {0};
    struct str why = {0};
    test_case("%s", text);
    const struct cel *cel = cel_compile(str_of(text), &mem, &why);
    if (cel)
        write(cel->root, &out);
    EXPECT_STR(cel ? buf_str(&out) : why, tree);
}

TEST(cel_read, binds_as_CEL_does)
{
    static const struct {
        const char *text, *tree;
    } cases[] = {
        {"1 + 2 * 3 == 7", "(== (+ 1 (* 2 3)) 7)"},
        {"1 - 2 - 3 == 0", "(== (- (- 1 2) 3) 0)"}, /* from the left */
        {"(1 - (2 - 3)) == 0", "(== (- 1 (- 2 3)) 0)"},
        {"7 / 2 % 2 == 1", "(== (% (/ 7 2) 2) 1)"},
        {"true || false && false", "(|| true (&& false false))"},
        {"true && false || true", "(|| (&& true false) true)"},
        {"1 < 2 && 2 <= 3", "(&& (< 1 2) (<= 2 3))"},
        {"!true || false", "(|| (! true) false)"},
        {"!!true", "(! (! true))"},
        {"-1 < 1", "(< -1 1)"},
        {"true ? false : true ? false : true", "(? true false (? true false true))"},
        {"true || false ? 1 == 1 : false", "(? (|| true false) (== 1 1) false)"},
        {"1 in [1, 2]", "(in 1 (list 1 2))"},
        {"device.attributes['d'].model == 'x'",
         "(== (. model ([] (. attributes device) 'd')) 'x')"},
        {"has(device.attributes['d'].model)", "(has model ([] (. attributes device) 'd'))"},
    };
    for (size_t i = 0; i < LEN(cases); i++)
        expect_tree(cases[i].text, cases[i].tree);
}

TEST(cel_read, numbers_and_texts_are_written_in_many_ways)
{
    static const struct {
        const char *text, *tree;
    } cases[] = {
        {"0x10 == 16", "(== 16 16)"},
        {"16u == 16u", "(== 16u 16u)"},
        {"-9223372036854775808 == 0", "(== -9223372036854775808 0)"},
        {"9223372036854775808 == 0", "no number: \"9223372036854775808\""},
        {"'a\\n\\x41\\u0041\\101' == \"b\"", "(== 'a\nAAA' 'b')"},
        {"r'a\\n' == 'b'", "(== 'a\\n' 'b')"}, /* raw: as it stands */
        {"'''a'b''' == 'c'", "(== 'a'b' 'c')"},
        {"true // and so on", "true"},
    };
    for (size_t i = 0; i < LEN(cases); i++)
        expect_tree(cases[i].text, cases[i].tree);
}

TEST(cel_read, a_name_means_the_innermost_that_was_bound)
{
    expect_tree("cel.bind(x, 1, x == 1)", "(bind 1 (== $0 1))");
    expect_tree("cel.bind(x, 1, cel.bind(y, 2, x < y))", "(bind 1 (bind 2 (< $0 $1)))");
    expect_tree("cel.bind(x, 1, true) && x == 1", "undeclared reference to \"x\"");
}

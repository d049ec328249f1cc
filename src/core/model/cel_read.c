/* Text to tree. Precedence as CEL has it: ?: || && relations + * unary, then members. */

#include "core/model/cel_inside.h"

enum token_kind { TOKEN_END, TOKEN_NAME, TOKEN_INT, TOKEN_UINT, TOKEN_TEXT, TOKEN_SIGN };

struct token {
    enum token_kind kind;
    struct str text; /* of a TOKEN_TEXT: what it stands for */
    int64_t number;  /* of TOKEN_INT and TOKEN_UINT: its bits */
    bool is_negative;
};

struct reader {
    const char *at, *end;
    struct token token; /* the next one */
    struct arena *mem;
    struct str *why;
    bool is_bad;
    uint32_t depth;
    struct str variables[CEL_VARIABLES_MOST];
    uint32_t n_variables;
};

static bool refuse(struct reader *r, const char *what, struct str text)
{
    if (!r->is_bad)
        *r->why = arena_printf(r->mem, "%s \"" STR_FMT "\"", what, STR_ARG(str_part(text, 0, 60)));
    r->is_bad = true;
    r->token = (struct token){0};
    return false;
}

/* --- tokens --- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_name_char(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static char peek(const struct reader *r, size_t ahead)
{
    return (size_t)(r->end - r->at) > ahead ? r->at[ahead] : '\0';
}

static void skip_space(struct reader *r)
{
    while (r->at < r->end) {
        if (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r' || *r->at == '\f')
            r->at++;
        else if (peek(r, 0) == '/' && peek(r, 1) == '/')
            while (r->at < r->end && *r->at != '\n')
                r->at++;
        else
            break;
    }
}

static int hex_of(char c)
{
    return is_digit(c)            ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

static void read_hex(struct reader *r, const char *from)
{
    uint64_t value = 0;
    r->at += 2;
    const char *digits = r->at;
    for (; r->at < r->end && hex_of(*r->at) >= 0; r->at++)
        if (__builtin_mul_overflow(value, 16, &value) ||
            __builtin_add_overflow(value, (uint64_t)hex_of(*r->at), &value)) {
            refuse(r, "no number:", (struct str){from, (size_t)(r->at - from)});
            return;
        }
    r->token = (struct token){.kind = TOKEN_INT, .number = (int64_t)value};
    bool is_natural = peek(r, 0) == 'u' || peek(r, 0) == 'U';
    if (is_natural) {
        r->token.kind = TOKEN_UINT;
        r->at++;
    }
    if (r->at == digits || (!is_natural && value > INT64_MAX))
        refuse(r, "no number:", (struct str){from, (size_t)(r->at - from)});
}

static void read_number(struct reader *r)
{
    const char *from = r->at;
    if (peek(r, 0) == '0' && (peek(r, 1) | 0x20) == 'x') {
        read_hex(r, from);
        return;
    }
    uint64_t value = 0;
    bool is_big = false;
    for (; r->at < r->end && is_digit(*r->at); r->at++)
        is_big |= __builtin_mul_overflow(value, 10, &value) ||
                  __builtin_add_overflow(value, (uint64_t)(*r->at - '0'), &value);
    if ((peek(r, 0) == '.' && is_digit(peek(r, 1))) || (peek(r, 0) | 0x20) == 'e') {
        refuse(r, "not supported yet: CEL double", (struct str){from, (size_t)(r->at - from)});
        return;
    }
    bool is_natural = (peek(r, 0) | 0x20) == 'u';
    r->at += is_natural;
    r->token =
        (struct token){.kind = is_natural ? TOKEN_UINT : TOKEN_INT, .number = (int64_t)value};
    /* 2^63 may follow a minus */
    if (is_big || (!is_natural && value > (uint64_t)INT64_MAX + 1))
        refuse(r, "no number:", (struct str){from, (size_t)(r->at - from)});
}

static size_t put_utf8(char *out, uint32_t c)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    size_t more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    out[0] = (char)((0xff00u >> (more + 1) & 0xff) | c >> (6 * more));
    for (size_t i = 1; i <= more; i++)
        out[i] = (char)(0x80 | (c >> (6 * (more - i)) & 0x3f));
    return more + 1;
}

/* What follows a backslash; false if nothing does that we know. */
static bool read_escape(struct reader *r, char **out)
{
    static const char from[] = "abfnrtv\\'\"`?", to[] = "\a\b\f\n\r\t\v\\'\"`?";
    char c = r->at < r->end ? *r->at++ : '\0';
    const char *found = c ? memchr(from, c, sizeof(from) - 1) : NULL;
    if (found) {
        *(*out)++ = to[found - from];
        return true;
    }
    uint32_t base = c >= '0' && c <= '3' ? 8 : 16, value = base == 8 ? (uint32_t)(c - '0') : 0;
    uint32_t digits = base == 8 ? 2 : c == 'x' || c == 'X' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    for (uint32_t i = 0; i < digits; i++) {
        int digit = r->at < r->end ? hex_of(*r->at++) : -1;
        if (digit < 0 || (uint32_t)digit >= base)
            return false;
        value = value * base + (uint32_t)digit;
    }
    if (digits == 0 || value > 0x10ffff || (value >= 0xd800 && value < 0xe000))
        return false;
    *out += put_utf8(*out, value);
    return true;
}

static bool ends_text(const struct reader *r, char quote, size_t quotes)
{
    for (size_t i = 0; i < quotes; i++)
        if (peek(r, i) != quote)
            return false;
    return true;
}

static void read_text(struct reader *r, bool is_raw)
{
    char quote = *r->at;
    size_t quotes = peek(r, 1) == quote && peek(r, 2) == quote ? 3 : 1;
    const char *from = r->at;
    r->at += quotes;
    char *text = arena_alloc(r->mem, (size_t)(r->end - r->at) + 4), *out = text;
    while (r->at < r->end && !ends_text(r, quote, quotes)) {
        char c = *r->at++;
        bool is_escape = c == '\\' && !is_raw;
        if ((quotes == 1 && c == '\n') || (is_escape && !read_escape(r, &out))) {
            refuse(r, "no text:", (struct str){from, (size_t)(r->at - from)});
            return;
        }
        if (!is_escape)
            *out++ = c;
    }
    if (r->at == r->end) {
        refuse(r, "a text without an end:", (struct str){from, (size_t)(r->at - from)});
        return;
    }
    r->at += quotes;
    r->token = (struct token){.kind = TOKEN_TEXT, .text = {text, (size_t)(out - text)}};
}

static void read_sign(struct reader *r)
{
    static const char *const two[] = {"&&", "||", "==", "!=", "<=", ">="};
    size_t n = 1;
    for (size_t i = 0; i < LEN(two); i++)
        if (peek(r, 0) == two[i][0] && peek(r, 1) == two[i][1])
            n = 2;
    struct str text = {r->at, n};
    if (n == 1 && !memchr("()[]{}.,?:!<>+-*/%", *r->at, 18)) {
        refuse(r, "unexpected", text);
        return;
    }
    r->at += n;
    r->token = (struct token){.kind = TOKEN_SIGN, .text = text};
}

static void next(struct reader *r)
{
    r->token = (struct token){0};
    if (r->is_bad)
        return;
    skip_space(r);
    char c = peek(r, 0);
    bool is_prefix = (c == 'r' || c == 'R') && (peek(r, 1) == '"' || peek(r, 1) == '\'');
    if (r->at == r->end)
        return;
    if (c == '"' || c == '\'' || is_prefix) {
        r->at += is_prefix;
        read_text(r, is_prefix);
    } else if (is_digit(c) || (c == '.' && is_digit(peek(r, 1)))) {
        read_number(r);
    } else if (is_name_char(c)) {
        const char *from = r->at;
        while (r->at < r->end && is_name_char(*r->at))
            r->at++;
        r->token = (struct token){.kind = TOKEN_NAME, .text = {from, (size_t)(r->at - from)}};
    } else {
        read_sign(r);
    }
}

static bool is_sign(const struct reader *r, const char *sign)
{
    return r->token.kind == TOKEN_SIGN && str_equal(r->token.text, str_of(sign));
}

static bool is_name(const struct reader *r, const char *name)
{
    return r->token.kind == TOKEN_NAME && str_equal(r->token.text, str_of(name));
}

static bool accept(struct reader *r, const char *sign)
{
    if (!is_sign(r, sign))
        return false;
    next(r);
    return true;
}

static void expect(struct reader *r, const char *sign)
{
    if (!accept(r, sign) && !r->is_bad)
        refuse(r, arena_printf(r->mem, "expected %s instead of", sign).p,
               r->token.kind == TOKEN_END ? STR("") : r->token.text);
}

/* --- trees --- */

static struct cel_node *make(struct reader *r, enum cel_op op, struct cel_node *const *args,
                             uint32_t n)
{
    struct cel_node *node = arena_alloc(r->mem, sizeof(*node));
    node->op = op;
    node->n = n;
    node->args = n ? arena_copy(r->mem, args, n * sizeof(*args)) : NULL;
    for (uint32_t i = 0; i < n && !r->is_bad; i++)
        node->depth = MAX(node->depth, args[i]->depth + 1);
    if (node->depth > CEL_HEIGHT_MOST)
        refuse(r, "too many operators in a row:", r->token.text);
    return node;
}

static struct cel_node *make_two(struct reader *r, enum cel_op op, struct cel_node *a,
                                 struct cel_node *b)
{
    struct cel_node *args[] = {a, b};
    return make(r, op, args, 2);
}

static struct cel_node *read_choice(struct reader *r);

/* One more level of brackets or operators; NULL once there are too many, or after a mistake. */
static struct cel_node *read_deeper(struct reader *r, struct cel_node *(*read)(struct reader *))
{
    if (r->depth >= CEL_DEPTH_MOST)
        refuse(r, "nested too deeply:", r->token.text);
    if (r->is_bad)
        return NULL;
    r->depth++;
    struct cel_node *node = read(r);
    r->depth--;
    return r->is_bad ? NULL : node;
}

enum { ARGUMENTS_MOST = 64 };

/* Up to the closing sign, which is taken. */
static uint32_t read_list(struct reader *r, const char *close, struct cel_node **out)
{
    uint32_t n = 0;
    while (!r->is_bad && !is_sign(r, close)) {
        if (n == ARGUMENTS_MOST)
            refuse(r, "more than 64 elements:", r->token.text);
        else
            out[n++] = read_deeper(r, read_choice);
        if (!is_sign(r, close))
            expect(r, ",");
    }
    expect(r, close);
    return n;
}

static struct cel_node *literal(struct reader *r, struct cel_value value)
{
    struct cel_node *node = make(r, OP_LITERAL, NULL, 0);
    node->literal = value;
    return node;
}

/* has(a.b), behind its bracket. */
static struct cel_node *read_has(struct reader *r)
{
    struct cel_node *node = read_deeper(r, read_choice);
    expect(r, ")");
    if (r->is_bad)
        return NULL;
    if (node->op != OP_SELECT)
        return refuse(r, "has() without a field", STR("")), NULL;
    node->op = OP_HAS;
    return node;
}

/* cel.bind(x, a, b), behind its bracket. */
static struct cel_node *read_bind(struct reader *r)
{
    struct str name = r->token.text;
    if (r->token.kind != TOKEN_NAME || r->n_variables == CEL_VARIABLES_MOST)
        return refuse(r, "cel.bind() without a variable", name), NULL;
    next(r);
    expect(r, ",");
    struct cel_node *value = read_deeper(r, read_choice);
    expect(r, ",");
    r->variables[r->n_variables++] = name;
    struct cel_node *body = read_deeper(r, read_choice);
    r->n_variables--;
    expect(r, ")");
    if (r->is_bad)
        return NULL;
    struct cel_node *node = make_two(r, OP_BIND, value, body);
    node->slot = r->n_variables;
    return node;
}

/* name(…) or a.name(…), behind its bracket. */
static struct cel_node *read_call(struct reader *r, struct cel_node *on, struct str name)
{
    struct cel_node *args[ARGUMENTS_MOST + 1] = {on};
    uint32_t n = (on != NULL) + read_list(r, ")", args + (on != NULL));
    if (r->is_bad)
        return NULL;
    if (on && n == 2 && str_equal(name, STR("matches"))) {
        struct cel_node *node = make(r, OP_MATCHES, args, 1);
        if (args[1]->op == OP_LITERAL && args[1]->literal.type == CEL_STRING)
            node->pattern = pattern_compile(args[1]->literal.text, r->mem);
        return node->pattern ? node : (refuse(r, "matches() of another pattern than", name), NULL);
    }
    for (uint32_t i = 0; i < n_cel_calls; i++) {
        const struct cel_call *call = &cel_calls[i];
        if (call->is_method != (on != NULL) || call->n != n || !str_equal(call->name, name))
            continue;
        struct cel_node *node = make(r, OP_CALL, args, n);
        node->call = call;
        return node;
    }
    return refuse(r, "not supported yet: CEL function", name), NULL;
}

static struct cel_node *read_name(struct reader *r)
{
    struct str name = r->token.text;
    next(r);
    if (str_equal(name, STR("true")) || str_equal(name, STR("false")))
        return literal(r, (struct cel_value){.type = CEL_BOOL, .yes = name.n == 4});
    if (str_equal(name, STR("null")))
        return literal(r, (struct cel_value){.type = CEL_NULL});
    if (str_equal(name, STR("has")) && accept(r, "("))
        return read_has(r);
    if (str_equal(name, STR("cel")) && accept(r, ".")) {
        if (is_name(r, "bind")) {
            next(r);
            expect(r, "(");
            return r->is_bad ? NULL : read_bind(r);
        }
        return refuse(r, "not supported yet: CEL function cel.", r->token.text), NULL;
    }
    if (accept(r, "("))
        return read_call(r, NULL, name);
    for (uint32_t i = r->n_variables; i-- > 0;)
        if (str_equal(r->variables[i], name)) {
            struct cel_node *node = make(r, OP_VARIABLE, NULL, 0);
            node->slot = i;
            return node;
        }
    if (str_equal(name, STR("device")))
        return make(r, OP_DEVICE, NULL, 0);
    return refuse(r, "undeclared reference to", name), NULL;
}

static struct cel_node *read_primary(struct reader *r)
{
    struct token t = r->token;
    struct cel_node *args[ARGUMENTS_MOST];
    switch (t.kind) {
    case TOKEN_NAME:
        return read_name(r);
    case TOKEN_TEXT:
        next(r);
        return literal(r, (struct cel_value){.type = CEL_STRING, .text = t.text});
    case TOKEN_INT:
        next(r);
        if (t.number == INT64_MIN && !t.is_negative)
            return refuse(r, "no number:", STR("9223372036854775808")), NULL;
        return literal(r, (struct cel_value){.type = CEL_INT, .number = t.number});
    case TOKEN_UINT:
        next(r);
        return literal(r, (struct cel_value){.type = CEL_UINT, .natural = (uint64_t)t.number});
    case TOKEN_SIGN:
        if (accept(r, "(")) {
            struct cel_node *node = read_deeper(r, read_choice);
            expect(r, ")");
            return node;
        }
        if (accept(r, "[")) {
            uint32_t n = read_list(r, "]", args);
            return r->is_bad ? NULL : make(r, OP_LIST, args, n);
        }
        break;
    case TOKEN_END:
        break;
    }
    return refuse(r, "unexpected", t.text), NULL;
}

/* .name, .?name or .name(…), behind its point. */
static struct cel_node *read_select(struct reader *r, struct cel_node *on)
{
    bool is_optional = accept(r, "?");
    struct str name = r->token.text;
    if (r->token.kind != TOKEN_NAME)
        return refuse(r, "expected a name instead of", name), NULL;
    next(r);
    if (!is_optional && accept(r, "("))
        return read_call(r, on, name);
    struct cel_node *node = make(r, is_optional ? OP_OPTIONAL_SELECT : OP_SELECT, &on, 1);
    node->name = name;
    return node;
}

static struct cel_node *read_member(struct reader *r)
{
    struct cel_node *node = read_primary(r);
    while (!r->is_bad) {
        if (accept(r, ".")) {
            node = read_select(r, node);
        } else if (accept(r, "[")) {
            enum cel_op op = accept(r, "?") ? OP_OPTIONAL_INDEX : OP_INDEX;
            node = make_two(r, op, node, read_deeper(r, read_choice));
            expect(r, "]");
        } else {
            break;
        }
    }
    return node;
}

static struct cel_node *read_unary(struct reader *r)
{
    if (accept(r, "!")) {
        struct cel_node *on = read_deeper(r, read_unary);
        return r->is_bad ? NULL : make(r, OP_NOT, &on, 1);
    }
    if (!accept(r, "-"))
        return read_member(r);
    if (r->token.kind == TOKEN_INT) { /* the sign belongs to the number */
        r->token.number = wrap_sub(0, r->token.number);
        r->token.is_negative = true;
        return read_member(r);
    }
    struct cel_node *on = read_deeper(r, read_unary);
    return r->is_bad ? NULL : make(r, OP_MINUS, &on, 1);
}

/* Operators of one level, from the loosest; they group to the left. */
static const struct level {
    const char *sign;
    enum cel_op op;
    uint32_t level;
} levels[] = {
    {"||", OP_OR, 0},      {"&&", OP_AND, 1},      {"==", OP_EQUAL, 2},   {"!=", OP_UNEQUAL, 2},
    {"<=", OP_AT_MOST, 2}, {">=", OP_AT_LEAST, 2}, {"<", OP_LESS, 2},     {">", OP_GREATER, 2},
    {"+", OP_ADD, 3},      {"-", OP_SUBTRACT, 3},  {"*", OP_MULTIPLY, 4}, {"/", OP_DIVIDE, 4},
    {"%", OP_MODULO, 4},
};

enum { TIGHTEST = 4, IN_LEVEL = 2 };

static const struct level *level_of(const struct reader *r)
{
    static const struct level in = {"in", OP_IN, IN_LEVEL};
    if (is_name(r, "in"))
        return &in;
    for (size_t i = 0; i < LEN(levels); i++)
        if (is_sign(r, levels[i].sign))
            return &levels[i];
    return NULL;
}

static struct cel_node *read_level(struct reader *r, uint32_t level)
{
    struct cel_node *left = level > TIGHTEST ? read_unary(r) : read_level(r, level + 1);
    const struct level *op;
    while (!r->is_bad && level <= TIGHTEST && (op = level_of(r)) && op->level == level) {
        next(r);
        left = make_two(r, op->op, left, read_level(r, level + 1));
    }
    return left;
}

static struct cel_node *read_choice(struct reader *r)
{
    struct cel_node *node = read_level(r, 0);
    if (r->is_bad || !accept(r, "?"))
        return node;
    struct cel_node *yes = read_level(r, 0);
    expect(r, ":");
    struct cel_node *args[] = {node, yes, read_deeper(r, read_choice)};
    return r->is_bad ? NULL : make(r, OP_CHOOSE, args, 3);
}

const struct cel *cel_compile(struct str text, struct arena *mem, struct str *why)
{
    struct reader r = {.at = text.p, .end = text.p + text.n, .mem = mem, .why = why};
    if (text.n == 0 || text.n > CEL_TEXT_MOST) {
        *why = text.n ? STR("the expression is too long") : STR("the expression is empty");
        return NULL;
    }
    next(&r);
    struct cel *cel = arena_alloc(mem, sizeof(*cel));
    cel->root = read_choice(&r);
    if (!r.is_bad && r.token.kind != TOKEN_END)
        refuse(&r, "unexpected", r.token.text);
    return r.is_bad ? NULL : cel;
}

/* Compiled to steps of a machine that is in several states at once (Thompson's construction): for
 * each character of the text all states move on together. */

#include "core/base/pattern.h"

#include "core/base/vec.h"

enum step_kind { STEP_ONE_OF, STEP_START, STEP_END, STEP_JUMP, STEP_SPLIT, STEP_MATCH };

struct range {
    uint32_t from, to;
};

struct step {
    enum step_kind kind;
    bool is_negated;      /* of STEP_ONE_OF */
    uint32_t range_at, n; /* the same: in pattern.ranges */
    uint32_t to, also;    /* of STEP_JUMP and STEP_SPLIT */
};

VEC_TYPE(step_vec, struct step);
VEC_TYPE(range_vec, struct range);

struct pattern {
    const struct step *steps;
    uint32_t n;
    const struct range *ranges;
};

struct compiling {
    const char *at, *end;
    struct step_vec steps;
    struct range_vec ranges;
    bool is_bad, ignores_case, dot_is_all;
    uint32_t depth;
};

enum { DEPTH_MOST = 100, REPEAT_MOST = 1000, LAST_CHARACTER = 0x10ffff };

/* --- characters --- */

/* The character at `*at`, which moves behind it. */
static uint32_t take_character(const char **at, const char *end)
{
    static const uint8_t firsts[] = {0, 0xc0, 0xe0, 0xf0};
    static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    uint8_t first = (uint8_t) * (*at)++;
    uint32_t more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : first >= 0xc0 ? 1 : 0;
    if (more == 0 || first >= 0xf8 || (size_t)(end - *at) < more)
        return first;
    uint32_t c = (uint32_t)(first & ~firsts[more]) & (0x3fu >> (more - 1));
    for (uint32_t i = 0; i < more; i++) {
        if (((uint8_t)(*at)[i] & 0xc0) != 0x80)
            return first;
        c = c << 6 | ((uint8_t)(*at)[i] & 0x3f);
    }
    if (c < least[more] || c > LAST_CHARACTER)
        return first;
    *at += more;
    return c;
}

static bool is_letter(uint32_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* --- compiling --- */

static uint32_t emit(struct compiling *c, struct step step)
{
    if (c->steps.n >= PATTERN_STEPS_MOST)
        c->is_bad = true;
    else
        vec_push(&c->steps, step);
    return c->steps.n ? c->steps.n - 1 : 0;
}

static void add_range(struct compiling *c, uint32_t from, uint32_t to)
{
    vec_push(&c->ranges, (struct range){from, to});
    if (!c->ignores_case)
        return;
    for (uint32_t x = MAX(from, (uint32_t)'A'); x <= MIN(to, (uint32_t)'z'); x++)
        if (is_letter(x))
            vec_push(&c->ranges, (struct range){x ^ 0x20, x ^ 0x20});
}

/* \d, \w, \s and their opposites; false if it is another letter. */
static bool add_shorthand(struct compiling *c, char letter)
{
    static const struct {
        char letter;
        uint32_t n;
        struct range ranges[6];
    } all[] = {
        {'d', 1, {{'0', '9'}}},
        {'w', 4, {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}},
        {'s', 3, {{'\t', '\n'}, {'\f', '\r'}, {' ', ' '}}},
        {'D', 2, {{0, '0' - 1}, {'9' + 1, LAST_CHARACTER}}},
        {'W',
         5,
         {{0, '0' - 1},
          {'9' + 1, 'A' - 1},
          {'Z' + 1, '_' - 1},
          {'_' + 1, 'a' - 1},
          {'z' + 1, LAST_CHARACTER}}},
        {'S',
         4,
         {{0, '\t' - 1}, {'\n' + 1, '\f' - 1}, {'\r' + 1, ' ' - 1}, {' ' + 1, LAST_CHARACTER}}},
    };
    for (uint32_t i = 0; i < LEN(all); i++) {
        if (all[i].letter != letter)
            continue;
        for (uint32_t k = 0; k < all[i].n; k++)
            vec_push(&c->ranges, all[i].ranges[k]);
        return true;
    }
    return false;
}

/* What a backslash makes of the next character, if that is one character. */
static bool take_escape(struct compiling *c, uint32_t *out)
{
    static const char from[] = "nrtfva", to[] = "\n\r\t\f\v\a";
    if (c->at == c->end)
        return false;
    char x = *c->at++;
    const char *found = memchr(from, x, sizeof(from) - 1);
    *out = found ? (uint32_t)to[found - from] : (uint32_t)(uint8_t)x;
    bool is_word = is_letter((uint8_t)x) || (x >= '0' && x <= '9') || (uint8_t)x >= 0x80;
    return found || !is_word;
}

static void compile_escape(struct compiling *c, struct step *step)
{
    uint32_t x;
    if (c->at < c->end && add_shorthand(c, *c->at)) {
        c->at++;
    } else if (take_escape(c, &x)) {
        add_range(c, x, x);
    } else {
        c->is_bad = true;
    }
    step->n = c->ranges.n - step->range_at;
    emit(c, *step);
}

static bool take_class_character(struct compiling *c, uint32_t *out)
{
    if (c->at == c->end)
        return false;
    if (*c->at != '\\') {
        *out = take_character(&c->at, c->end);
        return true;
    }
    c->at++;
    return take_escape(c, out);
}

/* [a-z_], behind its bracket. */
static void compile_class(struct compiling *c, struct step *step)
{
    step->is_negated = c->at < c->end && *c->at == '^';
    c->at += step->is_negated;
    bool is_first = true;
    while (!c->is_bad && (is_first || c->at == c->end || *c->at != ']')) {
        uint32_t from = 0, to;
        bool is_named = c->end - c->at >= 2 && c->at[0] == '[' && c->at[1] == ':';
        bool is_short = c->end - c->at >= 2 && c->at[0] == '\\' && add_shorthand(c, c->at[1]);
        if (is_short) {
            c->at += 2;
            is_first = false;
            continue;
        }
        if (is_named || !take_class_character(c, &from)) {
            c->is_bad = true;
            break;
        }
        to = from;
        is_first = false;
        if (c->end - c->at >= 2 && c->at[0] == '-' && c->at[1] != ']') {
            c->at++;
            if (!take_class_character(c, &to) || to < from)
                c->is_bad = true;
        }
        if (!c->is_bad)
            add_range(c, from, to);
    }
    c->at += !c->is_bad;
    step->n = c->ranges.n - step->range_at;
    emit(c, *step);
}

static void compile_choice(struct compiling *c);

static void compile_group(struct compiling *c)
{
    if (c->end - c->at >= 2 && c->at[0] == '?' && c->at[1] == ':')
        c->at += 2;
    else if (c->at < c->end && c->at[0] == '?')
        c->is_bad = true;
    if (++c->depth > DEPTH_MOST)
        c->is_bad = true;
    if (!c->is_bad)
        compile_choice(c);
    c->depth--;
    if (c->at == c->end || *c->at != ')')
        c->is_bad = true;
    else
        c->at++;
}

static void compile_atom(struct compiling *c)
{
    struct step step = {.kind = STEP_ONE_OF, .range_at = c->ranges.n};
    char x = *c->at;
    if (x == '(' || x == '[' || x == '\\' || x == '.' || x == '^' || x == '$')
        c->at++;
    switch (x) {
    case '(':
        compile_group(c);
        break;
    case '[':
        compile_class(c, &step);
        break;
    case '\\':
        compile_escape(c, &step);
        break;
    case '.':
        step.is_negated = true;
        if (!c->dot_is_all)
            add_range(c, '\n', '\n');
        step.n = c->ranges.n - step.range_at;
        emit(c, step);
        break;
    case '^':
    case '$':
        emit(c, (struct step){.kind = x == '^' ? STEP_START : STEP_END});
        break;
    case '*':
    case '+':
    case '?':
        c->is_bad = true; /* nothing there to repeat */
        break;
    default: {
        uint32_t character = take_character(&c->at, c->end);
        add_range(c, character, character);
        step.n = c->ranges.n - step.range_at;
        emit(c, step);
    }
    }
}

/* {n}, {n,} or {n,m}; anything else in braces stands for itself. */
static bool take_counts(struct compiling *c, uint32_t *least, uint32_t *most)
{
    const char *p = c->at + 1;
    uint32_t n[2] = {0, UINT32_MAX}, i = 0;
    for (; i < 2; i++) {
        bool has_digits = false;
        uint32_t value = 0;
        for (; p < c->end && *p >= '0' && *p <= '9' && value <= REPEAT_MOST; p++) {
            value = value * 10 + (uint32_t)(*p - '0');
            has_digits = true;
        }
        if (i == 0 && !has_digits)
            return false;
        if (has_digits)
            n[i] = value;
        if (i == 0 && p < c->end && *p == '}')
            n[1] = value;
        if (p == c->end || *p != ',')
            break;
        p++;
    }
    if (p == c->end || *p != '}')
        return false;
    if (n[0] > REPEAT_MOST || (n[1] != UINT32_MAX && (n[1] > REPEAT_MOST || n[1] < n[0])))
        c->is_bad = true;
    *least = n[0];
    *most = n[1];
    c->at = p + 1;
    return true;
}

/* Steps that lead nowhere but into themselves, moved to another place. */
static void append(struct compiling *c, const struct step *block, uint32_t n, uint32_t was_at)
{
    uint32_t move = c->steps.n - was_at; /* modulo 2^32 */
    for (uint32_t i = 0; i < n; i++) {
        struct step step = block[i];
        step.to += move;
        step.also += move;
        emit(c, step);
    }
}

/* A step that goes on with `n` steps of a block, or leaves them out. */
static void append_optional(struct compiling *c, const struct step *block, uint32_t n,
                            uint32_t was_at, bool is_loop)
{
    uint32_t split = emit(c, (struct step){.kind = STEP_SPLIT});
    append(c, block, n, was_at);
    if (is_loop)
        emit(c, (struct step){.kind = STEP_JUMP, .to = split});
    if (!c->is_bad)
        c->steps.at[split] = (struct step){.kind = STEP_SPLIT, .to = split + 1, .also = c->steps.n};
}

/* The steps from `at` on `least` times, then optional ones or a loop. */
static void repeat(struct compiling *c, uint32_t at, uint32_t least, uint32_t most)
{
    struct step_vec block = {0};
    for (uint32_t i = at; i < c->steps.n; i++)
        vec_push(&block, c->steps.at[i]);
    c->steps.n = at;
    for (uint32_t i = 0; i < least && !c->is_bad; i++)
        append(c, block.at, block.n, at);
    if (most == UINT32_MAX)
        append_optional(c, block.at, block.n, at, true);
    for (uint32_t i = least; most != UINT32_MAX && i < most && !c->is_bad; i++)
        append_optional(c, block.at, block.n, at, false);
    vec_done(&block);
}

static void compile_repeated(struct compiling *c)
{
    uint32_t at = c->steps.n;
    compile_atom(c);
    if (c->is_bad || c->at == c->end)
        return;
    uint32_t least = 0, most = UINT32_MAX;
    char x = *c->at;
    if (x == '*' || x == '+' || x == '?') {
        least = x == '+';
        most = x == '?' ? 1 : UINT32_MAX;
        c->at++;
    } else if (x != '{' || !take_counts(c, &least, &most)) {
        return;
    }
    c->at += c->at < c->end && *c->at == '?'; /* lazy: it matches the same texts */
    if (c->at < c->end && (*c->at == '*' || *c->at == '+' || *c->at == '?'))
        c->is_bad = true;
    if (!c->is_bad)
        repeat(c, at, least, most);
}

static void compile_sequence(struct compiling *c)
{
    while (!c->is_bad && c->at < c->end && *c->at != '|' && *c->at != ')')
        compile_repeated(c);
}

/* a|b|c: a split before each but the last, a jump to the end behind it. */
static void compile_choice(struct compiling *c)
{
    VEC(uint32_t) jumps = {0};
    for (bool is_last = false; !is_last && !c->is_bad;) {
        uint32_t at = c->steps.n;
        compile_sequence(c);
        is_last = c->is_bad || c->at == c->end || *c->at != '|';
        if (is_last)
            break;
        struct step_vec block = {0};
        for (uint32_t i = at; i < c->steps.n; i++)
            vec_push(&block, c->steps.at[i]);
        c->steps.n = at;
        uint32_t split = emit(c, (struct step){.kind = STEP_SPLIT});
        append(c, block.at, block.n, at);
        vec_push(&jumps, emit(c, (struct step){.kind = STEP_JUMP}));
        vec_done(&block);
        if (!c->is_bad)
            c->steps.at[split] =
                (struct step){.kind = STEP_SPLIT, .to = split + 1, .also = c->steps.n};
        c->at++;
    }
    for (uint32_t i = 0; !c->is_bad && i < jumps.n; i++)
        c->steps.at[jumps.at[i]].to = c->steps.n;
    vec_done(&jumps);
}

/* (?i) or (?s) or both, before everything else. */
static void take_flags(struct compiling *c)
{
    if (c->end - c->at < 4 || c->at[0] != '(' || c->at[1] != '?')
        return;
    const char *p = c->at + 2;
    for (; p < c->end && (*p == 'i' || *p == 's'); p++) {
        c->ignores_case |= *p == 'i';
        c->dot_is_all |= *p == 's';
    }
    if (p > c->at + 2 && p < c->end && *p == ')')
        c->at = p + 1;
}

const struct pattern *pattern_compile(struct str text, struct arena *mem)
{
    struct compiling c = {.at = text.p, .end = text.n ? text.p + text.n : text.p};
    struct pattern *p = NULL;
    if (text.n) {
        take_flags(&c);
        compile_choice(&c);
    }
    emit(&c, (struct step){.kind = STEP_MATCH});
    if (!c.is_bad && c.at == c.end) {
        p = arena_alloc(mem, sizeof(*p));
        p->n = c.steps.n;
        p->steps = arena_copy(mem, c.steps.at, c.steps.n * sizeof(*c.steps.at));
        p->ranges =
            c.ranges.n ? arena_copy(mem, c.ranges.at, c.ranges.n * sizeof(*c.ranges.at)) : NULL;
    }
    vec_done(&c.steps);
    vec_done(&c.ranges);
    return p;
}

/* --- matching --- */

/* The states that the machine is in. */
struct states {
    uint32_t *list, *seen; /* `seen`: by state, the turn in which it was added */
    uint32_t *stack;
    uint32_t n, turn;
};

/* Adds a state and those that are reached from it without a character. */
static void add(const struct pattern *p, struct states *s, uint32_t state, bool is_start,
                bool is_end)
{
    uint32_t depth = 0;
    s->stack[depth++] = state;
    while (depth) {
        uint32_t at = s->stack[--depth];
        if (s->seen[at] == s->turn)
            continue;
        s->seen[at] = s->turn;
        const struct step *step = &p->steps[at];
        bool is_open = (step->kind == STEP_START && is_start) || (step->kind == STEP_END && is_end);
        if (step->kind == STEP_SPLIT)
            s->stack[depth++] = step->also;
        if (step->kind == STEP_SPLIT || step->kind == STEP_JUMP)
            s->stack[depth++] = step->to;
        else if (is_open)
            s->stack[depth++] = at + 1;
        else if (step->kind == STEP_ONE_OF || step->kind == STEP_MATCH)
            s->list[s->n++] = at;
    }
}

static bool takes(const struct pattern *p, const struct step *step, uint32_t character)
{
    bool is_in = false;
    for (uint32_t i = 0; i < step->n; i++) {
        struct range r = p->ranges[step->range_at + i];
        is_in |= character >= r.from && character <= r.to;
    }
    return is_in != step->is_negated;
}

static struct states states_new(const struct pattern *p, struct arena *mem)
{
    return (struct states){
        .list = arena_array(mem, uint32_t, p->n),
        .seen = arena_array(mem, uint32_t, p->n),
        .stack = arena_array(mem, uint32_t, 2 * (size_t)p->n + 2),
    };
}

bool pattern_matches(const struct pattern *p, struct str text, struct arena *mem)
{
    struct states now = states_new(p, mem), next = states_new(p, mem);
    const char *at = text.p, *end = text.n ? text.p + text.n : text.p;
    bool is_start = true;
    now.turn = 1;
    for (;;) {
        add(p, &now, 0, is_start, at == end); /* a match may begin anywhere */
        for (uint32_t i = 0; i < now.n; i++)
            if (p->steps[now.list[i]].kind == STEP_MATCH)
                return true;
        if (at == end)
            return false;
        uint32_t character = take_character(&at, end);
        is_start = false;
        next.n = 0;
        next.turn = now.turn + 1;
        for (uint32_t i = 0; i < now.n; i++)
            if (takes(p, &p->steps[now.list[i]], character))
                add(p, &next, now.list[i] + 1, false, at == end);
        struct states other = now;
        now = next;
        next = other;
    }
}

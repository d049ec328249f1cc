/* Writes down every call into an engine and every effect that it gives, a line of JSON each.
 *
 * Programs of tests are linked so that the engine's calls come through here (`--wrap`, see
 * tests/meson.build); without the variables below nothing is done.
 *
 *     KUBENEXUS_STREAMS=FILE       for each test: its name, how many lines, and their hash
 *     KUBENEXUS_STREAM_LINES=FILE  the lines themselves, to see where two streams part
 *     KUBENEXUS_STEPS=FILE         for each test: its name, how many steps, and how long the
 * longest step and the longest reading of an object took, in microseconds of processor time
 * (bench/longest-steps)
 *
 * A line says what was called, when, and what about; an object is there with its hash. Behind each
 * engine_step() come its effects, complete. Engines have numbers in the order in which a test makes
 * them. */

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "core/base/hash.h"
#include "core/base/vec.h"
#include "core/engine/engine.h"
#include "core/wire/json_write.h"
#include "property/truth.h"
#include "streams/object_hash.h"

/* The running test; programs without tests have none. */
__attribute__((weak)) const char *test_name(void);

static struct {
    bool is_asked, is_on;
    FILE *sums, *lines, *times;
    VEC(const struct engine *) engines; /* of the running test; those freed are NULL */
    char test[256];
    uint64_t n, hash;
    uint64_t steps, longest_step_ns, longest_apply_ns;
    struct buf text;
} tap;

/* --- rows: one for each test --- */

static void end_test(void)
{
    if (tap.n && tap.sums)
        fprintf(tap.sums, "%s %" PRIu64 " %016" PRIx64 "\n", tap.test, tap.n, tap.hash);
    if (tap.n && tap.times)
        fprintf(tap.times, "%s %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", tap.test, tap.steps,
                tap.longest_step_ns / 1000, tap.longest_apply_ns / 1000);
    tap.n = tap.hash = tap.steps = tap.longest_step_ns = tap.longest_apply_ns = 0;
    tap.engines.n = 0;
}

static void end_program(void)
{
    end_test();
    if (tap.sums)
        fclose(tap.sums);
    if (tap.lines)
        fclose(tap.lines);
    if (tap.times)
        fclose(tap.times);
    vec_done(&tap.engines);
    buf_done(&tap.text);
}

static FILE *file_of(const char *variable)
{
    const char *name = getenv(variable);
    FILE *file = name ? fopen(name, "w") : NULL;
    if (name && !file) {
        perror(name);
        exit(2);
    }
    return file;
}

/* Is anybody listening? */
static bool is_on(void)
{
    if (!tap.is_asked) {
        tap.is_asked = true;
        tap.sums = file_of("KUBENEXUS_STREAMS");
        tap.lines = file_of("KUBENEXUS_STREAM_LINES");
        tap.times = file_of("KUBENEXUS_STEPS");
        tap.is_on = tap.sums || tap.lines || tap.times;
        if (tap.is_on)
            atexit(end_program);
    }
    if (tap.is_on) {
        const char *test = test_name ? test_name() : "program";
        if (strcmp(test, tap.test) != 0)
            end_test();
        snprintf(tap.test, sizeof(tap.test), "%s", test);
    }
    return tap.is_on;
}

/* Is somebody listening to what is said, not only to how long it takes? */
static bool hears(void)
{
    return is_on() && (tap.sums || tap.lines);
}

/* This thread's, in nanoseconds. */
static uint64_t worked_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* --- lines --- */

static uint64_t number_of(const struct engine *k)
{
    for (uint32_t i = tap.engines.n; i-- > 0;)
        if (tap.engines.at[i] == k)
            return i;
    vec_push(&tap.engines, k); /* an engine of an earlier test */
    return tap.engines.n - 1;
}

static struct json_writer line_begin(const struct engine *k)
{
    buf_clear(&tap.text);
    struct json_writer w = {.out = &tap.text};
    json_put_open(&w, '{');
    put_int(&w, "engine", (int64_t)number_of(k));
    return w;
}

static void line_end(struct json_writer *w)
{
    json_put_close(w, '}');
    tap.n++;
    tap.hash = hash_pair(tap.hash, hash_xxh64(buf_str(&tap.text), 0));
    if (tap.lines)
        fprintf(tap.lines, "%s\n", tap.text.p);
}

static struct json_writer call_begin(const struct engine *k, const char *call, int64_t now_ms)
{
    struct json_writer w = line_begin(k);
    put_text(&w, "call", str_of(call));
    put_int(&w, "at", now_ms);
    return w;
}

static void put_hash(struct json_writer *w, const char *key, uint64_t hash)
{
    char text[20];
    int n = snprintf(text, sizeof(text), "%016" PRIx64, hash);
    put_text(w, key, (struct str){text, (size_t)n});
}

static void put_id(struct json_writer *w, const char *key, uint64_t id)
{
    if (id)
        put_int(w, key, (int64_t)id);
}

/* --- effects --- */

static const char *const effect_names[] = {
    [EFFECT_BIND] = "bind",   [EFFECT_REFUSE] = "refuse", [EFFECT_FAIL] = "fail",
    [EFFECT_EVICT] = "evict", [EFFECT_WARN] = "warn",     [EFFECT_NOMINATE] = "nominate",
    [EFFECT_ASK] = "ask",     [EFFECT_WRITE] = "write",   [EFFECT_PUBLISH] = "publish",
};

static void put_kind(struct json_writer *w, enum kind kind)
{
    if (kind != KIND_NONE)
        put_text(w, "kind", str_of(kind_info_get(kind)->name));
}

static void put_patch(struct json_writer *w, const struct patch *p)
{
    json_put_open(w, '{');
    put_id(w, "verb", p->verb);
    put_kind(w, p->kind);
    put_nonempty(w, "name", p->name);
    put_nonempty(w, "part", p->part);
    put_nonempty(w, "meta", p->meta);
    put_nonempty(w, "body", p->body);
    json_put_close(w, '}');
}

static void put_write(struct json_writer *w, const struct object_write *write)
{
    put_open(w, "write", '{');
    put_kind(w, write->kind);
    put_nonempty(w, "namespace", write->namespace);
    put_nonempty(w, "name", write->name);
    put_id(w, "version", write->version);
    put_open(w, "patches", '[');
    for (uint32_t i = 0; i < write->n_patches; i++)
        put_patch(w, &write->patches[i]);
    json_put_close(w, ']');
    json_put_close(w, '}');
}

static void put_texts(struct json_writer *w, const char *key, const struct str *at, uint32_t n)
{
    put_open(w, key, '[');
    for (uint32_t i = 0; i < n; i++)
        json_put_str(w, at[i]);
    json_put_close(w, ']');
}

static void put_victims(struct json_writer *w, const struct extender_victims *v)
{
    json_put_open(w, '{');
    put_text(w, "node", v->node);
    put_texts(w, "uids", v->uids.at, v->uids.n);
    put_texts(w, "pods", v->pods.at, v->pods.n);
    put_id(w, "violations", (uint64_t)v->violations);
    json_put_close(w, '}');
}

static void put_ask(struct json_writer *w, const struct extender_ask *ask)
{
    put_open(w, "ask", '{');
    put_int(w, "extender", ask->extender);
    put_int(w, "verb", ask->verb);
    put_texts(w, "nodes", ask->nodes.at, ask->nodes.n);
    put_open(w, "victims", '[');
    for (uint32_t i = 0; i < ask->victims.n; i++)
        put_victims(w, &ask->victims.at[i]);
    json_put_close(w, ']');
    json_put_close(w, '}');
}

static void put_annotations(struct json_writer *w, const struct effect *e)
{
    put_open(w, "annotations", '{');
    for (uint32_t i = 0; i < e->annotations.n; i++) {
        json_put_key(w, e->annotations.at[i].key);
        json_put_str(w, e->annotations.at[i].value);
    }
    json_put_close(w, '}');
}

static void add_effect(const struct engine *k, const struct effect *e)
{
    struct json_writer w = line_begin(k);
    put_text(&w, "effect", str_of(effect_names[e->kind]));
    put_id(&w, "id", e->id);
    put_nonempty(&w, "namespace", e->namespace);
    put_nonempty(&w, "pod", e->pod);
    put_nonempty(&w, "uid", e->uid);
    put_nonempty(&w, "node", e->node);
    if (e->annotations.n)
        put_annotations(&w, e);
    put_id(&w, "exact", e->is_exact);
    put_id(&w, "waited", (uint64_t)e->waited_ms);
    put_id(&w, "attempt", e->attempt);
    put_id(&w, "binder", e->binder);
    put_nonempty(&w, "profile", e->profile);
    put_nonempty(&w, "message", e->message);
    put_id(&w, "rejectedBy", e->rejected_by);
    put_nonempty(&w, "byUid", e->by_uid);
    put_nonempty(&w, "byScheduler", e->by_scheduler);
    put_id(&w, "plan", e->plan);
    put_id(&w, "news", e->news);
    if (e->kind == EFFECT_WRITE || e->kind == EFFECT_PUBLISH)
        put_write(&w, &e->write);
    if (e->ask)
        put_ask(&w, e->ask);
    line_end(&w);
}

/* --- the engine's calls --- */

#define REAL(type, name, ...)                                                                      \
    type __real_##name(__VA_ARGS__);                                                               \
    type __wrap_##name(__VA_ARGS__)

/* clang-format off */
REAL(struct engine *, engine_new, const struct engine_config *);
REAL(void, engine_free, struct engine *);
REAL(void, engine_configure, struct engine *, int64_t, const struct engine_rules *);
REAL(void, engine_apply, struct engine *, int64_t, const struct change *);
REAL(bool, engine_step, struct engine *, int64_t, struct effects *);
REAL(void, engine_settle, struct engine *, int64_t, effect_id, const struct error *);
REAL(void, engine_answer, struct engine *, int64_t, effect_id, const struct extender_answer *);
REAL(int64_t, engine_next_ms, const struct engine *, int64_t);
REAL(void, engine_set_tie_order, struct engine *, struct str, uint64_t);
REAL(void, engine_trim, struct engine *);
/* clang-format on */

/* Who measures time does not count again. */
static void check(const struct engine *k, const char *call)
{
    if (!tap.times)
        truth_check(k, call);
}

static void put_config(struct json_writer *w, uint64_t seed, const struct engine_rules *rules)
{
    put_int(w, "seed", (int64_t)seed);
    put_int(w, "profiles", rules->n_profiles);
    put_int(w, "extenders", rules->n_extenders);
}

struct engine *__wrap_engine_new(const struct engine_config *config)
{
    struct engine *k = __real_engine_new(config);
    if (!hears())
        return k;
    vec_push(&tap.engines, k);
    struct json_writer w = call_begin(k, "new", 0);
    put_config(&w, config->seed, &config->rules);
    line_end(&w);
    return k;
}

void __wrap_engine_free(struct engine *k)
{
    if (k && hears()) {
        struct json_writer w = call_begin(k, "free", 0);
        line_end(&w);
        tap.engines.at[number_of(k)] = NULL; /* its address may be another's soon */
    }
    __real_engine_free(k);
}

void __wrap_engine_configure(struct engine *k, int64_t now_ms, const struct engine_rules *rules)
{
    if (hears()) {
        struct json_writer w = call_begin(k, "configure", now_ms);
        put_config(&w, 0, rules); /* the seed is for life */
        line_end(&w);
    }
    __real_engine_configure(k, now_ms, rules);
    check(k, "engine_configure");
}

void __wrap_engine_apply(struct engine *k, int64_t now_ms, const struct change *change)
{
    if (hears()) {
        const struct object *o = &change->object;
        bool is_put = change->kind == CHANGE_PUT;
        struct json_writer w = call_begin(k, is_put ? "put" : "remove", now_ms);
        put_kind(&w, o->kind);
        put_nonempty(&w, "namespace", o->meta->namespace);
        put_text(&w, "name", o->meta->name);
        if (is_put)
            put_hash(&w, "hash", object_hash(o));
        line_end(&w);
    }
    bool is_timed = is_on() && tap.times;
    uint64_t began = is_timed ? worked_ns() : 0;
    __real_engine_apply(k, now_ms, change);
    if (is_timed)
        tap.longest_apply_ns = MAX(tap.longest_apply_ns, worked_ns() - began);
    check(k, "engine_apply");
}

bool __wrap_engine_step(struct engine *k, int64_t now_ms, struct effects *out)
{
    uint32_t before = out->list.n;
    bool is_timed = is_on() && tap.times;
    uint64_t began = is_timed ? worked_ns() : 0;
    bool goes_on = __real_engine_step(k, now_ms, out);
    if (is_timed) {
        tap.steps++;
        tap.n++;
        tap.longest_step_ns = MAX(tap.longest_step_ns, worked_ns() - began);
    }
    check(k, "engine_step");
    if (!hears())
        return goes_on;
    struct json_writer w = call_begin(k, "step", now_ms);
    put_bool(&w, "goesOn", goes_on);
    line_end(&w);
    for (uint32_t i = before; i < out->list.n; i++)
        add_effect(k, &out->list.at[i]);
    return goes_on;
}

void __wrap_engine_settle(struct engine *k, int64_t now_ms, effect_id effect,
                          const struct error *why)
{
    if (hears()) {
        struct json_writer w = call_begin(k, "settle", now_ms);
        put_int(&w, "id", (int64_t)effect);
        if (why)
            put_int(&w, "error", why->kind);
        line_end(&w);
    }
    __real_engine_settle(k, now_ms, effect, why);
    check(k, "engine_settle");
}

void __wrap_engine_answer(struct engine *k, int64_t now_ms, effect_id effect,
                          const struct extender_answer *answer)
{
    if (hears()) {
        struct json_writer w = call_begin(k, "answer", now_ms);
        put_int(&w, "id", (int64_t)effect);
        put_nonempty(&w, "error", answer->error);
        line_end(&w);
    }
    __real_engine_answer(k, now_ms, effect, answer);
    check(k, "engine_answer");
}

int64_t __wrap_engine_next_ms(const struct engine *k, int64_t now_ms)
{
    int64_t next_ms = __real_engine_next_ms(k, now_ms);
    if (hears()) {
        struct json_writer w = call_begin(k, "next", now_ms);
        put_int(&w, "next", next_ms);
        line_end(&w);
    }
    return next_ms;
}

void __wrap_engine_set_tie_order(struct engine *k, struct str node, uint64_t tie_order)
{
    if (hears()) {
        struct json_writer w = call_begin(k, "rank", 0);
        put_text(&w, "name", node);
        put_hash(&w, "rank", tie_order);
        line_end(&w);
    }
    __real_engine_set_tie_order(k, node, tie_order);
    check(k, "engine_rank");
}

void __wrap_engine_trim(struct engine *k)
{
    if (hears()) {
        struct json_writer w = call_begin(k, "trim", 0);
        line_end(&w);
    }
    __real_engine_trim(k);
    check(k, "engine_trim");
}

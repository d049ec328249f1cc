#include "core/engine/unit/unit.h"

enum { WHILE_MS = 200 }; /* so long others may add to what changed */

void published_status_see(struct published_status *x, const struct object *o, bool is_over)
{
    struct object_status status = object_status_of(o);
    if (!x->uid || !str_equal(str_of(x->uid), o->meta->uid)) {
        published_status_done(x);
        x->uid = mem_alloc(o->meta->uid.n + 1);
        memcpy(x->uid, o->meta->uid.p, o->meta->uid.n);
    }
    x->kind = o->kind;
    for (uint32_t i = 0; i < STATUS_CONDITIONS_MOST; i++) {
        x->was[i].is_there = status.conditions[i].type.n > 0;
        x->was[i].is_true = status.conditions[i].is_true;
        x->was[i].since_ms = status.conditions[i].since_ms;
    }
    snprintf(x->phase, sizeof(x->phase), STR_FMT, STR_ARG(status.phase));
    if (is_over)
        status.pods.n = 0;
    x->seen = object_status_hash(&status);
}

void published_status_done(struct published_status *x)
{
    mem_free(x->uid);
    *x = (struct published_status){0};
}

void engine_make_stale(struct engine *k, struct published_status *x)
{
    if (!k->config.publishes)
        return;
    x->is_stale = true;
    k->publishing.due_ms = MIN(k->publishing.due_ms, k->now_ms + WHILE_MS);
}

static void date(struct publication *what, int64_t now_ms)
{
    const struct published_status *x = what->published_status;
    for (uint32_t i = 0; i < STATUS_CONDITIONS_MOST; i++) {
        struct status_condition *c = &what->status.conditions[i];
        bool is_same = x->was[i].is_there && x->was[i].is_true == c->is_true;
        bool is_dated = is_same && x->was[i].since_ms != TIME_NONE;
        c->since_ms = is_dated ? x->was[i].since_ms : now_ms;
    }
}

void engine_publish(struct engine *k, struct publication *what, struct effects *out)
{
    struct published_status *x = what->published_status;
    uint64_t hash = object_status_hash(&what->status);
    bool is_new = hash != x->seen && hash != x->said;
    bool is_news = what->news && (what->news != x->news || what->news_of != x->news_of);
    x->said = hash;
    if (!is_new && !is_news)
        return;
    x->news = is_news ? what->news : x->news;
    x->news_of = is_news ? what->news_of : x->news_of;
    struct effect effect = {
        .id = ++k->last.effect,
        .kind = EFFECT_PUBLISH,
        .uid = arena_str(&out->mem, str_of(x->uid)),
        .profile = k->config.rules.profiles[0].name,
        .news = is_news ? what->news : NEWS_NONE,
        .message = arena_str(&out->mem, what->text),
        .write = {.kind = what->kind, .namespace = what->namespace, .name = what->name},
    };
    if (is_new) {
        date(what, k->now_ms);
        struct patch patch = {
            .part = STR("status"),
            .meta = arena_printf(&out->mem, "\"uid\":\"%s\"", x->uid),
            .body = object_status_text(what->kind, &what->status, &out->mem),
        };
        effect.write.patches = arena_copy(&out->mem, &patch, sizeof(patch));
        effect.write.n_patches = 1;
    }
    vec_push(&out->list, effect);
}

void engine_add_publication(struct engine *k, const struct object_write *write, struct str uid,
                            struct patch patch, struct effects *out)
{
    struct effect effect = {
        .id = ++k->last.effect,
        .kind = EFFECT_PUBLISH,
        .uid = arena_str(&out->mem, uid),
        .write = *write,
    };
    effect.write.patches = arena_copy(&out->mem, &patch, sizeof(patch));
    effect.write.n_patches = 1;
    vec_push(&out->list, effect);
}

#include "kube/discover.h"

#include "core/wire/json_read.h"
#include "kube/limits.h"

enum { AGAIN_MS = 60000, SOON_MS = 1000, TIMEOUT_MS = 10000, AT_FIRST_MS = 30000 };

/* Until the server answers there is nothing else to do: at first it is asked all the time, so that
 * we are ready when it is. */
static const struct pause_law law_at_first = {
    .first_ms = 20, .cap_ms = 40, .reset_ms = INT64_MAX, .factor = 2, .jitter = 0.5};
static const struct pause_law law = {
    .first_ms = 100, .cap_ms = 2000, .reset_ms = 10000, .factor = 2, .jitter = 0.5};

struct resource {
    struct str name;
};

struct resources {
    LIST(struct resource) list;
};

static const struct field resource_fields[] = {
    {FIELD(STR, "name", 1, struct resource, name)},
    FIELD_END,
};

static const struct field resources_fields[] = {
    {FIELD_MESSAGES("resources", 2, struct resources, list, resource_fields)},
    FIELD_END,
};

/* The newest that we know of the kind is number 0; NULL: there are no more. */
static const char *version_of(uint32_t kind, uint32_t number)
{
    const struct kind_info *info = kind_info_get(watched_kinds[kind].kind);
    return number == 0 ? info->api_version : info->older[number - 1];
}

static bool has_group(const struct discover *d, const char *api_version)
{
    for (uint32_t i = 0; i < d->n_groups; i++)
        if (strcmp(d->groups[i].api_version, api_version) == 0)
            return true;
    return false;
}

void discover_init(struct discover *d, int64_t now_ms, request_id id, uint64_t seed,
                   const struct listener *listener)
{
    *d = (struct discover){.listener = listener,
                           .rng = rng_seeded(seed),
                           .last_id = id,
                           .due_ms = now_ms,
                           .began_ms = now_ms,
                           .said_status = -1};
    for (uint32_t k = 0; k < WATCHED_COUNT; k++)
        if (!watched_kinds[k].is_on_demand)
            discover_want(d, now_ms, k);
}

void discover_want(struct discover *d, int64_t now_ms, uint32_t kind)
{
    d->is_wanted[kind] = true;
    for (uint32_t v = 0; v < VERSIONS_MOST && version_of(kind, v); v++) {
        if (has_group(d, version_of(kind, v)))
            continue;
        d->groups[d->n_groups++].api_version = version_of(kind, v);
        d->due_ms = now_ms;
    }
}

void discover_done(struct discover *d)
{
    for (uint32_t i = 0; i < d->n_groups; i++)
        answer_done(&d->groups[i].answer);
    buf_done(&d->text);
    arena_done(&d->mem);
}

static bool is_listed(const struct resources *found, const char *resource, struct str part)
{
    struct str whole = str_of(resource);
    list_each(&found->list, r)
        if (str_starts(r->name, whole) && str_equal(str_part(r->name, whole.n, r->name.n), part))
            return true;
    return false;
}

static void learn_kind(struct discover *d, uint32_t kind, uint32_t version,
                       const struct resources *found)
{
    const char *resource = watched_kinds[kind].resource;
    bool is_served = is_listed(found, resource, STR(""));
    d->versions[kind][version] = is_served ? SERVED_YES : SERVED_NO;
    d->writes_whole[kind][version] = is_served && !is_listed(found, resource, STR("/status"));
}

static void learn(struct discover *d, const char *api_version, const struct resources *found)
{
    for (uint32_t k = 0; k < WATCHED_COUNT; k++)
        for (uint32_t v = 0; v < VERSIONS_MOST && version_of(k, v); v++)
            if (strcmp(version_of(k, v), api_version) == 0)
                learn_kind(d, k, v, found);
}

bool discover_writes_whole(const struct discover *d, uint32_t kind, const char *version)
{
    for (uint32_t v = 0; v < VERSIONS_MOST && version_of(kind, v); v++)
        if (strcmp(version_of(kind, v), version) == 0)
            return d->writes_whole[kind][v];
    return false;
}

enum served discover_served(const struct discover *d, uint32_t kind, const char **version)
{
    for (uint32_t v = 0; v < VERSIONS_MOST && d->is_wanted[kind] && version_of(kind, v); v++) {
        *version = version_of(kind, v);
        if (d->versions[kind][v] != SERVED_NO)
            return d->versions[kind][v];
    }
    return d->is_wanted[kind] ? SERVED_NO : SERVED_UNKNOWN;
}

/* What a whole answer says; false if nothing. */
static bool read_answer(struct discover *d, const char *api_version, const struct answer *a)
{
    struct resources found = {0};
    struct error e;
    size_t where;
    if (a->status != 404 &&
        (a->status != 200 || a->is_cut ||
         !json_read(buf_str(&a->body), resources_fields, &found, &d->mem, &where, &e)))
        return false;
    learn(d, api_version, &found);
    return true;
}

/* Once, and not of each group: mostly they fail together. */
static void say_trouble(struct discover *d, int64_t now_ms, const char *api_version,
                        const struct trouble *why)
{
    if (d->said_status == why->status)
        return;
    d->said_status = why->status;
    buf_clear(&d->text);
    path_add_group(&d->text, api_version);
    struct notice notice = {.kind = why->status == 403 ? NOTICE_DENIED : NOTICE_TROUBLE,
                            .verb = "get",
                            .what = buf_str(&d->text),
                            .text = why->message};
    d->listener->notice(d->listener->ctx, now_ms, &notice);
}

static int64_t wait_ms(struct discover *d, int64_t now_ms)
{
    bool is_first = now_ms - d->began_ms < AT_FIRST_MS;
    return pause_wait_ms(&d->pause, is_first ? &law_at_first : &law, now_ms, &d->rng);
}

bool discover_hear(struct discover *d, int64_t now_ms, const struct reply *reply)
{
    uint32_t i = 0;
    while (i < d->n_groups && d->groups[i].current != reply->id)
        i++;
    if (i == d->n_groups)
        return false;
    struct answer *answer = &d->groups[i].answer;
    answer_add(answer, reply, GROUP_BYTES_MOST);
    if (reply->kind != REPLY_END && reply->kind != REPLY_LOST)
        return false;
    d->groups[i].current = 0;
    bool is_lost = reply->kind == REPLY_LOST;
    bool is_learnt = !is_lost && read_answer(d, d->groups[i].api_version, answer);
    if (is_learnt) {
        d->said_status = -1;
    } else {
        struct trouble why = is_lost ? trouble_of_lost(reply) : trouble_of_answer(answer, &d->mem);
        say_trouble(d, now_ms, d->groups[i].api_version, &why);
        d->due_ms = MIN(d->due_ms, now_ms + wait_ms(d, now_ms));
    }
    arena_reset(&d->mem);
    return is_learnt;
}

void discover_tick(struct discover *d, int64_t now_ms, struct requests *out)
{
    if (now_ms < d->due_ms)
        return;
    d->due_ms = now_ms + AGAIN_MS;
    for (uint32_t i = 0; i < d->n_groups; i++) {
        if (d->groups[i].current)
            continue;
        buf_clear(&d->text);
        path_add_group(&d->text, d->groups[i].api_version);
        d->groups[i].current = ++d->last_id;
        vec_push(&out->list, (struct request){.id = d->last_id,
                                              .lane = LANE_READ,
                                              .verb = VERB_GET,
                                              .path = arena_str(&out->mem, buf_str(&d->text)),
                                              .timeout_ms = TIMEOUT_MS});
    }
}

void discover_doubt(struct discover *d, int64_t now_ms)
{
    d->due_ms = MIN(d->due_ms, now_ms + SOON_MS);
}

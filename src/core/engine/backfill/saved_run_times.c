/* What was learned outlives us: it stands in a ResourceReservation of our own that holds nothing.
 *
 * Run times come slowly and are needed late, so it is written seldom, and a loss costs little: at
 * most a KiB a second, and not before others may have ended too. Whoever knows more is right, by
 * the number of ends it has seen: so one who starts takes over what it reads, one who waits for the
 * lease learns from both, and our own words change nothing when they come back. */

#include "core/engine/backfill/line.h"
#include "core/model/mirror.h"

enum { SELDOM_MS = 10000, MS_PER_BYTE = 1 };

static const struct str suffix = STR("-run-times");

static bool is_home(const struct engine *k, const struct meta *meta)
{
    struct str name = meta->name, home = k->config.home_name;
    return str_equal(meta->namespace, k->config.home_namespace) && str_starts(name, home) &&
           str_equal(str_part(name, home.n, name.n), suffix);
}

static void write_in_time(struct engine *k)
{
    struct saved_run_times *own = &k->lines->saved_run_times;
    if (own->is_stale)
        k->publishing.due_ms = MIN(k->publishing.due_ms, own->due_ms);
}

void engine_save_run_times(struct engine *k)
{
    struct saved_run_times *own = &k->lines->saved_run_times;
    if (!k->config.publishes || !k->config.home_name.n || own->is_stale)
        return;
    own->is_stale = true;
    own->due_ms = MAX(own->due_ms, k->now_ms + SELDOM_MS);
    write_in_time(k);
}

/* --- what is seen --- */

static void see(struct engine *k, struct str uid)
{
    struct saved_run_times *own = &k->lines->saved_run_times;
    mem_free(own->uid);
    own->uid = mem_alloc(uid.n + 1);
    memcpy(own->uid, uid.p, uid.n);
}

bool engine_read_saved_run_times(struct engine *k, const struct reservation *from)
{
    struct str text = mirror_memory(from);
    struct runtimes *known = &k->lines->runtimes, read = {0};
    if (!text.p)
        return false;
    bool is_ours = is_home(k, &from->meta);
    if (is_ours)
        see(k, from->meta.uid);
    if (!is_ours && k->config.home_name.n)
        return true;
    if (runtimes_read_notes(text) <= known->notes && known->notes)
        return true;
    if (!runtimes_read(&read, text)) {
        k->figures->stats.ends_illegible++;
        return true;
    }
    runtimes_done(known);
    *known = read;
    engine_renew_expected_ends(k);
    return true;
}

bool engine_lose_saved_run_times(struct engine *k, const struct meta *meta)
{
    struct saved_run_times *own = &k->lines->saved_run_times;
    if (!is_home(k, meta))
        return false;
    mem_free(own->uid);
    own->uid = NULL;
    if (k->lines->runtimes.notes)
        engine_save_run_times(k);
    return true;
}

/* --- what is shown --- */

void engine_publish_run_times(struct engine *k, struct effects *out)
{
    struct saved_run_times *own = &k->lines->saved_run_times;
    if (!own->is_stale || k->now_ms < own->due_ms) {
        write_in_time(k);
        return;
    }
    AUTO(buf) text = {0};
    runtimes_write(&k->lines->runtimes, &text);
    struct object_write write = {.kind = KIND_RESERVATION,
                                 .namespace = k->config.home_namespace,
                                 .name = arena_join(&out->mem, k->config.home_name, suffix)};
    struct str uid = own->uid ? str_of(own->uid) : STR("");
    struct patch patch;
    if (own->uid)
        patch = (struct patch){.meta = arena_join(&out->mem, patch_uid(uid, &k->mem), STR(","),
                                                  mirror_memory_patch(buf_str(&text), &k->mem))};
    else
        patch = mirror_write_memory(write.namespace, write.name, buf_str(&text), &out->mem);
    engine_add_publication(k, &write, uid, patch, out);
    own->is_stale = false;
    own->due_ms = k->now_ms + MAX((int64_t)text.n * MS_PER_BYTE, (int64_t)SELDOM_MS);
}

void engine_saved_run_times_done(struct engine *k)
{
    mem_free(k->lines->saved_run_times.uid);
}

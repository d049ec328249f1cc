/* How a reservation stands: who has its entries, and where the room for the others is. */

#include "core/engine/reservation/reservation.h"

#define FINALIZER STR("scheduling.kubenexus.io/reservation-protection")

/* --- what is seen --- */

/* Earlier releases put it on their objects, and left them with it. */
char *engine_other_finalizers(const struct reservation *from)
{
    bool has_ours = false;
    AUTO(buf) rest = {0};
    buf_add_char(&rest, '[');
    list_each(&from->meta.finalizers, f) {
        if (str_equal(*f, FINALIZER))
            has_ours = true;
        else
            buf_printf(&rest, "%s\"" STR_FMT "\"", rest.n > 1 ? "," : "", STR_ARG(*f));
    }
    buf_add_char(&rest, ']');
    return has_ours ? mem_copy(rest.p, rest.n + 1) : NULL;
}

/* What was told of it before we came. */
static enum effect_news told_by(const struct reservation *from)
{
    list_each(&from->status.conditions, c) {
        if (!str_equal(c->type, STR("ReservationActive")))
            continue;
        return str_equal(c->status, STR("True"))      ? NEWS_RESERVED
               : str_equal(c->reason, STR("Expired")) ? NEWS_EXPIRED
                                                      : NEWS_NONE;
    }
    return NEWS_NONE;
}

void engine_see_reservation(struct engine *k, struct reservation_info *b,
                            const struct reservation *from)
{
    bool is_first = !b->published.uid;
    struct object object = {.kind = KIND_RESERVATION,
                            .reservation = (struct reservation *)(uintptr_t)from};
    published_status_see(&b->published, &object, b->is_over);
    if (is_first)
        b->published.news = told_by(from);
    int64_t version;
    mem_free(b->finalizers);
    b->finalizers = engine_other_finalizers(from);
    b->version = str_int(from->meta.resource_version, &version) ? (uint64_t)version : 0;
    b->is_leaving = from->meta.deleted_ms != TIME_NONE;
    engine_make_stale(k, &b->published);
}

/* --- how it stands --- */

struct takings {
    uint32_t entries, held, taken;
};

static bool is_taken(const struct slot *slot)
{
    return slot->user != ID_NONE || slot->is_spent;
}

static struct takings count(const struct engine *k, const struct reservation_info *b)
{
    struct takings t = {.entries = b->entries};
    vec_each(&b->slots, slot) {
        t.taken += is_taken(slot);
        t.held +=
            !is_taken(slot) && pods_at(&k->cluster->pods, (pod_id){slot->pod})->node != ID_NONE;
    }
    return t;
}

static int compare(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    return str_compare(x->key, y->key);
}

/* By entry, sorted. */
static pair_list users_of(const struct engine *k, const struct reservation_info *b,
                          struct arena *mem)
{
    pair_list list = {.at = arena_array(mem, struct pair, b->slots.n)};
    vec_each(&b->slots, slot) {
        struct pair *pair = &list.at[list.n++];
        pair->key = names_text(&k->cluster->names, slot->entry);
        if (slot->user != ID_NONE)
            pair->value = pod_name(pods_at(&k->cluster->pods, (pod_id){slot->user}));
    }
    if (list.n)
        qsort(list.at, list.n, sizeof(*list.at), compare);
    return list;
}

static struct status_condition active(const struct reservation_info *b, struct takings t,
                                      struct arena *mem)
{
    struct status_condition c = {.type = STR("ReservationActive")};
    if (b->is_over) {
        c.reason = STR("Expired");
        c.message = STR("its time is over");
    } else if (t.entries == 0) {
        c.reason = STR("Empty");
        c.message = STR("it asks for nothing");
    } else if (t.taken == t.entries) {
        c.reason = STR("Taken");
        c.message = STR("all entries are taken");
    } else {
        c.is_true = t.held + t.taken == t.entries;
        c.reason = c.is_true ? STR("Held") : STR("NoRoom");
        c.message = arena_printf(mem, "room for %u of %u entries is held, %u are taken", t.held,
                                 t.entries, t.taken);
    }
    return c;
}

static struct status_condition complete(struct takings t, struct arena *mem)
{
    bool is_true = t.entries && t.taken == t.entries;
    return (struct status_condition){
        .type = STR("GangComplete"),
        .is_true = is_true,
        .reason = is_true ? STR("Taken") : STR("Waiting"),
        .message = arena_printf(mem, "%u of %u entries are taken", t.taken, t.entries),
    };
}

/* Takes our finalizer off: nothing must keep the object, and its namespace, from going. */
static void free_object(struct engine *k, struct reservation_info *b, struct effects *out)
{
    struct object_write write = {.kind = KIND_RESERVATION,
                                 .namespace = names_text(&k->cluster->names, b->namespace),
                                 .name = names_text(&k->cluster->names, b->name),
                                 .version = b->version};
    struct patch patch = {.meta = arena_printf(&out->mem, "\"finalizers\":%s", b->finalizers)};
    engine_add_publication(k, &write, str_of(b->published.uid), patch, out);
    mem_free(b->finalizers);
    b->finalizers = NULL;
}

static void show(struct engine *k, struct reservation_info *b, struct effects *out)
{
    struct takings t = count(k, b);
    struct publication what = {
        .published_status = &b->published,
        .kind = KIND_RESERVATION,
        .namespace = names_text(&k->cluster->names, b->namespace),
        .name = reservation_is_own(b) ? engine_mirror_name(k, b, &out->mem)
                                      : names_text(&k->cluster->names, b->name),
        .status = {.held = (int32_t)t.held, .entries = (int32_t)t.entries},
    };
    what.status.conditions[0] = active(b, t, &k->mem);
    what.status.conditions[1] = complete(t, &k->mem);
    if (!b->is_over)
        what.status.pods = users_of(k, b, &k->mem);
    what.news = b->is_over                          ? NEWS_EXPIRED
                : what.status.conditions[0].is_true ? NEWS_RESERVED
                                                    : NEWS_NONE;
    what.text = what.status.conditions[0].message;
    b->published.is_stale = false;
    if (b->finalizers)
        free_object(k, b, out);
    if (!b->is_leaving)
        engine_publish(k, &what, out);
}

void engine_publish_reservations(struct engine *k, struct effects *out)
{
    vec_each(&k->reservations->all, b)
        if (b->name != SYM_NONE && b->published.is_stale && b->published.uid)
            show(k, b, out);
}

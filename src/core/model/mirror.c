#include "core/model/mirror.h"

#include "core/model/put.h"

#define MANAGER_LABEL "app.kubernetes.io/managed-by"
#define MANAGER       "kubenexus-scheduler"
#define MEMORY        "scheduling.kubenexus.io/run-times"

enum { LABEL_MOST = 63 };

bool reservation_is_mirror(const struct reservation *r)
{
    list_each(&r->meta.labels, label)
        if (str_equal(label->key, STR(MANAGER_LABEL)))
            return str_equal(label->value, STR(MANAGER));
    return false;
}

static void put_labels(struct json_writer *j, const struct mirror *m)
{
    put_open(j, "labels", '{');
    put_text(j, MANAGER_LABEL, STR(MANAGER));
    if (m->group.n && m->group.n <= LABEL_MOST) {
        put_text(j, "pod-group", m->group);
        put_text(j, "scheduling.kubenexus.io/app-id", m->group);
    }
    json_put_close(j, '}');
}

static void put_owner(struct json_writer *j, const struct owner *owner)
{
    put_open(j, "ownerReferences", '[');
    json_put_open(j, '{');
    put_text(j, "apiVersion", owner->api_version);
    put_text(j, "kind", owner->kind);
    put_text(j, "name", owner->name);
    put_text(j, "uid", owner->uid);
    json_put_close(j, '}');
    json_put_close(j, ']');
}

static void put_spec(struct json_writer *j, const struct mirror *m, struct arena *mem)
{
    put_text(j, "podGroupName", m->group);
    put_text(j, "duration", arena_printf(mem, "%llds", (long long)m->seconds));
    put_open(j, "reservations", '{');
    list_each(&m->slots, slot) {
        put_open_text(j, slot->name, '{');
        put_text(j, "node", slot->node);
        put_amounts(j, "resources", &slot->amounts);
        json_put_close(j, '}');
    }
    json_put_close(j, '}');
}

/* What stands between the braces. */
static struct str inside(const struct buf *text, struct arena *mem)
{
    return arena_str(mem, str_part(buf_str(text), 1, text->n - 1));
}

/* The whole of one: with what `m` holds, if there is one. */
static struct patch created(struct buf *meta, const struct mirror *m, struct arena *mem)
{
    AUTO(buf) body = {0};
    struct json_writer j = {.out = &body};
    json_put_open(&j, '{');
    put_text(&j, "apiVersion", STR("scheduling.kubenexus.io/v1alpha1"));
    put_text(&j, "kind", STR("ResourceReservation"));
    put_open(&j, "spec", '{');
    if (m)
        put_spec(&j, m, mem);
    json_put_close(&j, '}');
    json_put_close(&j, '}');
    return (struct patch){
        .verb = OBJECT_CREATE, .meta = inside(meta, mem), .body = inside(&body, mem)};
}

struct patch mirror_write(const struct mirror *m, struct arena *mem)
{
    AUTO(buf) meta = {0};
    struct json_writer j = {.out = &meta};
    json_put_open(&j, '{');
    put_text(&j, "name", m->name);
    put_text(&j, "namespace", m->namespace);
    put_labels(&j, m);
    if (m->owner.uid.n)
        put_owner(&j, &m->owner);
    json_put_close(&j, '}');
    return created(&meta, m, mem);
}

/* --- what was learned --- */

static void put_memory(struct json_writer *j, struct str text)
{
    put_open(j, "annotations", '{');
    put_text(j, MEMORY, text);
    json_put_close(j, '}');
}

struct patch mirror_write_memory(struct str namespace, struct str name, struct str text,
                                 struct arena *mem)
{
    AUTO(buf) meta = {0};
    struct json_writer j = {.out = &meta};
    json_put_open(&j, '{');
    put_text(&j, "name", name);
    put_text(&j, "namespace", namespace);
    put_labels(&j, &(struct mirror){0});
    put_memory(&j, text);
    json_put_close(&j, '}');
    return created(&meta, NULL, mem);
}

struct str mirror_memory_patch(struct str text, struct arena *mem)
{
    AUTO(buf) meta = {0};
    struct json_writer j = {.out = &meta};
    json_put_open(&j, '{');
    put_memory(&j, text);
    json_put_close(&j, '}');
    return inside(&meta, mem);
}

struct str mirror_memory(const struct reservation *r)
{
    list_each(&r->meta.annotations, note)
        if (str_equal(note->key, STR(MEMORY)))
            return note->value.p ? note->value : STR("");
    return (struct str){0};
}

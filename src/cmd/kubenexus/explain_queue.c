#include "cmd/kubenexus/explain_queue.h"

#include "cmd/kubenexus/explain_judge.h"
#include "core/engine/engine.h"

bool explain_queue(const struct objects *set, const struct scheduler_config *config,
                   const struct pod *target, struct arena *mem, struct queue_spot *out)
{
    int64_t now_ms = explain_latest_ms(set);
    struct engine *k = explain_engine(set, config, now_ms);
    explain_line_up(k, now_ms);
    bool is_there = engine_queue_spot(k, target->meta.namespace, target->meta.name, mem, out);
    engine_free(k);
    return is_there;
}

static void add_share(struct buf *out, uint64_t share)
{
    buf_printf(out, "%llu.%03llu", (unsigned long long)(share / 1000000000),
               (unsigned long long)(share % 1000000000 / 1000000));
}

void queue_spot_word(const struct queue_spot *place, struct buf *out)
{
    static const char *const classes[] = {"within guarantee", "borrowing", "budget spent"};
    const struct queue_level *leaf = &place->levels.at[place->levels.n - 1];
    buf_printf(out, STR_FMT ": class %s, share ", STR_ARG(place->path), classes[leaf->class]);
    add_share(out, leaf->share);
    buf_printf(out, ", position %u of %u (" STR_FMT " %u of %u)", place->position, place->size,
               STR_ARG(place->why.queue), place->leaf_position, place->leaf_size);
}

static void add_level(const struct queue_level *level, struct buf *out)
{
    buf_printf(out, STR_FMT " ", STR_ARG(level->queue));
    add_share(out, level->share);
    buf_printf(out, "/%u", level->weight);
}

void queue_level_word(const struct queue_spot *place, uint32_t level, struct buf *out)
{
    const struct queue_level *ours = &place->levels.at[level], *rival = &place->rivals[level];
    if (!rival->queue.n)
        return;
    add_level(rival->is_first ? rival : ours, out);
    buf_add(out, STR(" < "));
    add_level(rival->is_first ? ours : rival, out);
}

void queue_spot_json(const struct queue_spot *place, struct json_writer *w)
{
    put_open(w, "queue", '{');
    put_text(w, "name", place->why.queue);
    put_text(w, "path", place->path);
    put_open(w, "levels", '[');
    list_each(&place->levels, level) {
        json_put_open(w, '{');
        put_text(w, "queue", level->queue);
        put_int(w, "class", level->class);
        put_int(w, "share", (int64_t)level->share);
        put_int(w, "weight", level->weight);
        json_put_close(w, '}');
    }
    json_put_close(w, ']');
    put_int(w, "position", place->position);
    put_int(w, "of", place->size);
    put_text(w, "refusedBy", place->why.at);
    put_text(w, "rule", queue_rule_name(place->why.rule));
    json_put_close(w, '}');
}

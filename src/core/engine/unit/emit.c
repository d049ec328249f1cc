/* Effects, numbered. */

#include "core/engine/unit/unit.h"

struct effect *engine_emit(struct engine *k, pod_id pod, enum effect_kind kind, struct effects *out)
{
    const struct cluster *c = k->cluster;
    const struct pod_row *row = pods_at(&c->pods, pod);
    struct unit *unit = &k->units.at[pod.i];
    assert(pod.i < k->units.n && row->text);
    if (kind <= EFFECT_FAIL) /* the other kinds come along with one of these */
        unit->attempts++;
    struct effect effect = {
        .id = ++k->last.effect,
        .kind = kind,
        .namespace = names_text(&c->names, c->pods.shapes.at[row->shape].namespace),
        .pod = pod_name(row),
        .uid = pod_uid(row),
        .waited_ms = k->now_ms - unit->first_ms,
        .attempt = unit->attempts,
        .profile = k->figures->counts.profiles.at[unit->profile].name,
    };
    vec_push(&out->list, effect);
    return &vec_last(&out->list);
}

void engine_expect(struct engine *k, effect_id effect, uint32_t whose)
{
    assert(effect == k->last.effect && map_find(&k->unsettled, effect) == MAP_NONE);
    map_put(&k->unsettled, effect, whose);
}

void engine_tell_failure(struct engine *k, pod_id pod, struct str message, struct effects *out)
{
    struct effect *effect = engine_emit(k, pod, EFFECT_FAIL, out);
    effect->message = arena_str(&out->mem, message);
    k->figures->stats.failed++;
    k->figures->counts.profiles.at[k->units.at[pod.i].profile].error++;
    engine_count_refused(k, pod, 0);
}

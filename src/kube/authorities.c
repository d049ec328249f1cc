#include "kube/authorities.h"

#include "core/wire/json_read.h"

struct config_map {
    struct str client_ca;
};

static const struct field data_fields[] = {
    {FIELD(STR, "client-ca-file", 0, struct config_map, client_ca)},
    FIELD_END,
};

static const struct field config_map_fields[] = {
    {FIELD_PART("data", 2, data_fields)},
    FIELD_END,
};

void authorities_init(struct authorities *a, request_id first_id)
{
    *a = (struct authorities){.last_id = first_id};
}

void authorities_done(struct authorities *a)
{
    answer_done(&a->answer);
    arena_done(&a->mem);
}

void authorities_ask(struct authorities *a, struct requests *out)
{
    if (a->current)
        return;
    a->current = ++a->last_id;
    answer_clear(&a->answer);
    vec_push(&out->list, (struct request){
                             .id = a->current,
                             .lane = LANE_READ,
                             .verb = VERB_GET,
                             .path = STR("/api/v1/namespaces/kube-system/configmaps/"
                                         "extension-apiserver-authentication"),
                             .timeout_ms = AUTHORITIES_TIMEOUT_MS,
                         });
}

enum authorities_result authorities_hear(struct authorities *a, const struct reply *reply,
                                         struct str *pem, struct trouble *trouble)
{
    if (!a->current || reply->id != a->current)
        return AUTHORITIES_NOTHING;
    answer_add(&a->answer, reply, AUTHORITIES_BYTES_MOST);
    if (reply->kind != REPLY_END && reply->kind != REPLY_LOST)
        return AUTHORITIES_NOTHING;
    a->current = 0;
    arena_reset(&a->mem);
    struct config_map map = {0};
    struct error e;
    size_t where;
    if (reply->kind == REPLY_LOST) {
        *trouble = trouble_of_lost(reply);
        return AUTHORITIES_FAILED;
    }
    if (a->answer.status != 200 || a->answer.is_cut ||
        !json_read(buf_str(&a->answer.body), config_map_fields, &map, &a->mem, &where, &e)) {
        *trouble = trouble_of_answer(&a->answer, &a->mem);
        return AUTHORITIES_FAILED;
    }
    *pem = map.client_ca;
    return AUTHORITIES_TOLD;
}

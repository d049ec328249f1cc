#include "core/model/event.h"

#include "core/wire/proto.h"

static void put_time(struct buf *out, uint32_t number, int64_t ms)
{
    size_t moment = proto_open(out, number);
    proto_put_int(out, 1, ms / 1000);
    proto_put_int(out, 2, ms % 1000 * 1000000);
    proto_close(out, moment);
}

static void put_regarding(struct buf *out, uint32_t number, const struct event *e)
{
    size_t reference = proto_open(out, number);
    proto_put_str(out, 1, e->regarding.kind);
    proto_put_str(out, 2, e->regarding.namespace);
    proto_put_str(out, 3, e->regarding.name);
    proto_put_str(out, 4, e->regarding.uid);
    proto_put_str(out, 5, e->regarding.api_version);
    proto_put_str(out, 6, e->regarding.resource_version);
    proto_close(out, reference);
}

/* runtime.Unknown{typeMeta = 1, raw = 2} with the Event inside. */
void event_write(const struct event *e, struct buf *out)
{
    buf_add_bytes(out, "k8s", sizeof("k8s"));
    size_t type = proto_open(out, 1);
    proto_put_str(out, 1, STR("events.k8s.io/v1"));
    proto_put_str(out, 2, STR("Event"));
    proto_close(out, type);
    size_t raw = proto_open(out, 2);
    size_t meta = proto_open(out, 1);
    proto_put_str(out, 1, e->name);
    proto_put_str(out, 3, e->namespace);
    proto_close(out, meta);
    put_time(out, 2, e->at_ms);
    proto_put_str(out, 4, e->controller);
    proto_put_str(out, 5, e->instance);
    proto_put_str(out, 6, e->action);
    proto_put_str(out, 7, e->reason);
    put_regarding(out, 8, e);
    proto_put_str(out, 10, e->note);
    proto_put_str(out, 11, e->type);
    proto_close(out, raw);
}

#include "core/model/binding.h"

#include "core/wire/json_write.h"
#include "core/wire/proto.h"

static void put_pair(struct buf *out, uint32_t number, const struct pair *pair)
{
    size_t entry = proto_open(out, number);
    proto_put_str(out, 1, pair->key);
    proto_put_str(out, 2, pair->value);
    proto_close(out, entry);
}

/* runtime.Unknown{typeMeta = 1, raw = 2} with the Binding{metadata = 1, target = 2} inside. */
static void write_proto(const struct binding *b, struct buf *out)
{
    buf_add_bytes(out, "k8s", sizeof("k8s"));
    size_t type = proto_open(out, 1);
    proto_put_str(out, 1, STR("v1"));
    proto_put_str(out, 2, STR("Binding"));
    proto_close(out, type);
    size_t raw = proto_open(out, 2);
    size_t meta = proto_open(out, 1);
    proto_put_str(out, 1, b->name);
    proto_put_str(out, 3, b->namespace);
    proto_put_str(out, 5, b->uid);
    proto_put_str(out, 6, b->resource_version);
    list_each(&b->annotations, pair)
        put_pair(out, 12, pair);
    proto_close(out, meta);
    size_t target = proto_open(out, 2);
    proto_put_str(out, 1, STR("Node"));
    proto_put_str(out, 3, b->node);
    proto_close(out, target);
    proto_close(out, raw);
}

static void write_json(const struct binding *b, struct buf *out)
{
    struct json_writer w = {.out = out};
    json_put_open(&w, '{');
    put_text(&w, "apiVersion", STR("v1"));
    put_text(&w, "kind", STR("Binding"));
    json_put_key(&w, STR("metadata"));
    json_put_open(&w, '{');
    if (b->annotations.n) {
        json_put_key(&w, STR("annotations"));
        json_put_open(&w, '{');
        list_each(&b->annotations, pair) {
            json_put_key(&w, pair->key);
            json_put_str(&w, pair->value);
        }
        json_put_close(&w, '}');
    }
    put_nonempty(&w, "name", b->name);
    put_nonempty(&w, "namespace", b->namespace);
    put_nonempty(&w, "resourceVersion", b->resource_version);
    put_nonempty(&w, "uid", b->uid);
    json_put_close(&w, '}');
    json_put_key(&w, STR("target"));
    json_put_open(&w, '{');
    put_text(&w, "kind", STR("Node"));
    put_nonempty(&w, "name", b->node);
    json_put_close(&w, '}');
    json_put_close(&w, '}');
}

void binding_write(const struct binding *b, enum encoding encoding, struct buf *out)
{
    assert(encoding != ENCODING_NONE);
    if (encoding == ENCODING_PROTO)
        write_proto(b, out);
    else
        write_json(b, out);
}

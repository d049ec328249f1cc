#pragma once

#include "core/base/buf.h"
#include "core/model/envelope.h"

/* Pods of one template have the same spec, but for the node's name: thousands of them need not be
 * read one by one. A spec that comes a second time is kept, its bytes and what they say; the next
 * pod with these bytes gets it as it is. Exact, for bytes are compared and not hashes; bounded, for
 * a spec gives way to another that has the same place. Protobuf only. */

enum { TEMPLATE_PLACES = 128, TEMPLATE_BYTES_MOST = 16384 };

struct template
{
    bool is_kept;       /* a spec is */
    uint64_t hash;      /* of its bytes */
    uint64_t seen_once; /* hash of the last spec that was not kept here */
    struct buf bytes;
    struct arena mem;
    struct pod pod; /* its spec alone counts */
};

struct templates {
    struct template *at;
    struct buf bytes;     /* of the last spec asked for, without the node's name */
    struct str node_name; /* of its pod */
    uint64_t hash;        /* 0: it cannot be kept */
};

void templates_done(struct templates *t);

/* Reads a pod whose spec is known: as envelope_object() would, and says that it is of a template.
 * What its spec points to lives until another is kept. False: it is not known, or not to be read.
 */
bool templates_read(struct templates *t, const struct envelope *v, struct arena *mem,
                    struct object *out) MUST_USE;

/* The spec that templates_read() was last asked for, and did not know, was read and is well: it is
 * kept if it comes for the second time. */
void templates_keep(struct templates *t);

#pragma once

#include "core/base/buf.h"
#include "core/model/meta.h"
#include "core/wire/encoding.h"

/* What puts a pod on a node: the body of a POST to its subresource `binding`. */
struct binding {
    struct str name, namespace;
    struct str uid;              /* the server refuses a pod of the same name with another one */
    struct str resource_version; /* the same; "": any */
    pair_list annotations;       /* the server adds them to the pod's in the same write */
    struct str node;
};

/* Added to `out`. */
void binding_write(const struct binding *b, enum encoding encoding, struct buf *out);

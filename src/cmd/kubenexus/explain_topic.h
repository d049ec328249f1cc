#pragma once

#include "core/config/config.h"
#include "io/files/manifest_read.h"

/* What is to be explained: a pod, or a pod of a gang or of an owner. */

enum topic_kind { TOPIC_POD, TOPIC_GANG, TOPIC_OWNER };

struct topic {
    enum topic_kind kind;
    struct str owner; /* its kind, as Job; any case */
    struct str namespace, name;
};

/* "NS/NAME"; of an owner "KIND/NS/NAME". Without NS: the namespace default. False: it is none. */
bool topic_parse(struct topic *s, enum topic_kind kind, struct str text) MUST_USE;

/* How many pods belong to it. */
struct topic_pods {
    struct pod *pod, *waiting; /* the first by name: of all, of those that wait; NULL: none */
    uint32_t pods, running, ended;
    const struct object *owner; /* the object itself; NULL: it is not in the files */
};

struct topic_pods topic_find(const struct topic *s, const struct objects *set);

/* Why none of its pods waits, in one sentence. */
void topic_word(const struct topic *s, const struct topic_pods *found, const struct objects *set,
                struct buf *out);

#pragma once

#include "core/base/arena.h"
#include "core/model/object.h"

enum object_verb { OBJECT_PATCH, OBJECT_CREATE, OBJECT_DELETE };

/* What is to change in an object, as a strategic merge: members of JSON objects, without braces, so
 * that whoever sends it can add what guards it. Of one that is created, all of it; of one that is
 * deleted, the options, in `body`. */
struct patch {
    struct str part; /* "": the object itself; "status": that part of it, written alone */
    struct str meta; /* inside metadata: "annotations":{"a":"b"} */
    struct str body; /* beside metadata: "spec":{…} */
    enum object_verb verb;

    /* Not the object that is written, but another of its namespace; KIND_NONE: the object. */
    enum kind kind;
    struct str name;
};

/* Inside metadata: this very object, and no other of its name. It lives in `mem`. */
struct str patch_uid(struct str uid, struct arena *mem);

/* Deletes this very object. */
struct patch patch_delete(struct str uid, struct arena *mem);

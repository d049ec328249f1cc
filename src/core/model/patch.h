#pragma once

#include "core/base/str.h"

/* What is to change in an object, as a strategic merge: members of JSON objects, without braces, so
 * that whoever sends it can add what guards it. */
struct patch {
    struct str part; /* "": the object itself; "status": that part of it, written alone */
    struct str meta; /* inside metadata: "annotations":{"a":"b"} */
    struct str body; /* beside metadata: "spec":{…} */
};

#pragma once

#include "core/base/arena.h"
#include "core/base/error.h"
#include "core/base/vec.h"
#include "core/model/object.h"

/* Objects from files: manifests with any number of documents, or what `kubectl get … -o json|yaml`
 * prints. A file whose first character is '{' is JSON, any other YAML.
 *
 * Objects come out with the API server's defaults and checked. Kinds that we do not read are
 * counted, so that a command can say so once for each. */

enum {
    MANIFEST_BYTES_MOST = 256 << 20, /* of a file */
    MANIFEST_OBJECTS_MOST = 2000000,
};

struct object_place {
    const char *file;  /* as the caller named it */
    uint32_t document; /* from 1 */
    uint32_t line;
};

struct skipped_kind {
    struct str name;
    uint32_t n;
};

struct objects {
    struct arena mem;  /* what objects point at … */
    VEC(char *) texts; /* … or the texts they were read from */
    VEC(struct object) all;
    VEC(struct object_place) places; /* of each */
    VEC(struct skipped_kind) skipped;
    int64_t dumped_ms;       /* when they were read from a cluster; 0: nobody says */
    struct str read, denied; /* kinds as `kubenexus dump` lists them (core/model/dump.h) */
    struct str target; /* NS/NAME of a comment "# target: NS/NAME" on top of a file; else empty */
};

/* Reads files, "-" being stdin, into the empty set `o`. File names must outlive it. If one of them
 * is bad, `o` stays empty and the error says, in one line, which file, document, line, field and
 * value. An object that is there twice is bad, too. */
bool objects_read(struct objects *o, const char *const *files, size_t n, struct error *e) MUST_USE;

/* The same from one text in memory, which is called `name` in errors. */
bool objects_read_text(struct objects *o, const char *name, struct str text,
                       struct error *e) MUST_USE;

void objects_done(struct objects *o);

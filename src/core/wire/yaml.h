#pragma once

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/base/str.h"
#include "core/base/vec.h"

/* YAML documents as JSON text, so that one reader serves both.
 *
 * Plain scalars mean what they mean to Kubernetes (sigs.k8s.io/yaml, YAML 1.1): yes, no, on, off
 * are booleans, 010 is eight, 1e3 a number; what is quoted is text. Anchors, aliases and merge keys
 * are resolved; of equal keys the last wins. Aliases must not blow a document up: what they expand
 * to is limited, as are depth and the length of a scalar. */

enum { YAML_EXPANSION_MOST = 4 << 20 /* bytes and nodes that aliases may add to a document */ };

/* (libyaml has names like yaml_free itself.) */
struct yaml_reader;

struct yaml_mark {
    size_t offset; /* of a value in the JSON text */
    uint32_t line; /* where it stands in the YAML, from 1 */
};

/* One document; {0} is empty. */
struct yaml_document {
    struct buf json;             /* "null" if the document is empty */
    VEC(struct yaml_mark) marks; /* by offset */
    VEC(size_t) doubled;         /* offsets of values whose key stood in its mapping before, too */
    uint32_t line;               /* of its first value, or of the error in it */
};

/* `text` must outlive it. */
struct yaml_reader *yaml_reader_new(struct str text);

/* The text holds secrets: no error shows a piece of it. */
void yaml_reader_hide(struct yaml_reader *y);
void yaml_reader_free(struct yaml_reader *y);

/* The next document, over what `out` held. False at the end, with kind ERROR_NONE, or at an error,
 * which is on line out->line. */
bool yaml_reader_next(struct yaml_reader *y, struct yaml_document *out, struct error *e) MUST_USE;

/* The line of the YAML that a byte of the JSON text comes from. */
uint32_t yaml_document_line(const struct yaml_document *d, size_t offset);
void yaml_document_done(struct yaml_document *d);

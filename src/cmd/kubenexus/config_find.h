#pragma once

#include "core/base/arena.h"
#include "core/base/vec.h"

/* Configurations in files as they are applied: a KubeSchedulerConfiguration by itself, among other
 * documents, or in the data of a ConfigMap. */

struct config_text {
    struct str text;
    struct str where;    /* "config.yaml of ConfigMap kubenexus-config"; empty: the file itself */
    uint32_t line_above; /* of the file: line 1 of the text is the next */
};

VEC_TYPE(config_texts, struct config_text);

/* All that a file has. There is one at least: where none is recognised it is the whole file, so
 * that reading it says what is wrong. */
void config_find(struct str file, struct arena *mem, struct config_texts *out);

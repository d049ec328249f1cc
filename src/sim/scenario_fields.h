#pragma once

#include "core/base/error.h"
#include "core/wire/field.h"

/* The fields of a scenario file, for scenario.c. Types of our own refuse what makes no sense by
 * itself (no node has -1 GPUs), so that the reader of JSON can say where it stands. */
extern const struct field scenario_fields[];

/* The forms of a duration that are not one fixed time: {mean}, {median, p90}, {min, max}. */
struct duration_form {
    int64_t mean_ms, median_ms, p90_ms, min_ms, max_ms; /* 0: not said */
};
extern const struct field duration_form_fields[];

/* What is wrong with one fixed time, "90s"; NULL if nothing is. */
const char *duration_read(struct str text, int64_t *ms);

/* Says which field of the object is in no table. What a pod's template holds is not looked at. */
bool fields_are_known(struct str text, const struct field *fields, size_t *where,
                      struct error *e) MUST_USE;

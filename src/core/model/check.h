#pragma once

#include "core/model/object.h"

/* What the API server would not have stored, as far as it could lead a scheduler astray: missing
 * names, operators and effects that do not exist, requirements with the wrong number of values,
 * weights and ports out of range. The error names the field and the value. */
bool object_check(const struct object *object, struct error *e) MUST_USE;

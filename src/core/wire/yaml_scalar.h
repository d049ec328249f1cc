#pragma once

#include "core/base/buf.h"
#include "core/base/str.h"

/* What a YAML scalar stands for: the rules of go.yaml.in/yaml/v2, which Kubernetes reads YAML with.
 */
enum yaml_type { YAML_STR, YAML_NULL, YAML_BOOL, YAML_INT, YAML_FLOAT };

/* The type of an unquoted scalar without a tag. For all but YAML_STR its JSON text is added to
 * `out`; infinities and NaN, which JSON lacks, have none. */
enum yaml_type yaml_resolve(struct str plain, struct buf *out);

#pragma once

#include "core/base/buf.h"
#include "core/base/error.h"

/* Reads a cluster as `kubenexus dump` does, for a command of this name: what may not be read is said
 * on stderr. NULL: where kubectl would look. */
bool dump_cluster(const char *command, const char *kubeconfig, const char *server, struct buf *out,
                  struct error *e) MUST_USE;

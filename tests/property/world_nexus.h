#pragma once

#include "core/base/rng.h"
#include "core/model/object.h"

void gen_hardware(struct arena *mem, uint64_t seed, struct node *out);
void gen_wishes(struct arena *mem, struct rng *r, struct pod *out);

/* A report that speaks of the pods with this fingerprint. */
void gen_print(struct arena *mem, uint64_t print, struct object *report);

/* What a driver tells of the GPUs of a node. */
struct object gen_gpu_slice(struct arena *mem, struct rng *r, struct str node);

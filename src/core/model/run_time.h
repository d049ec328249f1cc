#pragma once

#include "core/model/pod.h"

/* What a pod says about how long it will run, and by what we know its kin. */

#define ANNOTATION_DURATION "scheduling.kubenexus.io/expected-duration"

/* Milliseconds: the annotation ("90m", "1h30m"), else activeDeadlineSeconds; 0: it says nothing. An
 * annotation that is no time above 0 says nothing. */
int64_t pod_declared_ms(const struct pod *pod);

/* The name without what tells one run of a thing from the next: numbers and the API server's random
 * letters at its end. train-28-x7k2p and train-29-9bt4c are both train. */
struct str name_stem(struct str name);

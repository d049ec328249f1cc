#pragma once

#include "core/model/pod.h"

/* A pod that makes the pods it works with only when it runs: a Spark driver, the head of a Ray
 * cluster. It says in annotations how many there will be and what each asks for; placed where there
 * is no room for them it would wait for ever. */

struct driver_needs {
    uint32_t workers; /* at least 1 */
    amount_list each; /* 1 CPU and 750M where it does not say */
};

/* False if it is none, or does not say how many there will be. What is no number counts as not
 * said. `each` lives in `mem`. */
bool driver_needs(const struct pod *pod, struct arena *mem, struct driver_needs *out);

#pragma once

#include "core/base/str.h"

/* The scenario that `kubenexus simulate` runs when it is given none; scenarios/demo.yaml is the
 * same text. */
struct str demo_scenario(void);

#pragma once

#include "sim/scenario.h"

/* Machines that people have, by name: their GPUs, cores and memory, and the labels that GPU feature
 * discovery and our agent would give them. */

/* What the shape's name stands for is filled in where the file says nothing; false: there is no
 * such machine. Texts last for ever. */
bool shape_complete(struct scenario_nodes *n, struct arena *mem) MUST_USE;

/* "hgx-h100, hgx-h200, …" */
struct str shape_names(struct arena *mem);

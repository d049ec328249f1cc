#pragma once

#include "core/base/buf.h"
#include "core/config/config.h"
#include "core/engine/queues.h"
#include "core/wire/json_write.h"
#include "io/files/manifest_read.h"

/* Where a pod that waits stands in its queue: beside what explain says of nodes. */

/* Lives in `mem`. False: it is in no queue. */
bool explain_queue(const struct objects *set, const struct scheduler_config *config,
                   const struct pod *target, struct arena *mem, struct queue_spot *out);

/* "ml/team-a: class within guarantee, share 0.000, position 3 of 41 (team-a 1 of 7)". */
void queue_spot_word(const struct queue_spot *place, struct buf *out);

/* "ml 0.125/1 < ops 0.250/1" of a level; nothing where it has no rival. */
void queue_level_word(const struct queue_spot *place, uint32_t level, struct buf *out);

/* The member "queue". */
void queue_spot_json(const struct queue_spot *place, struct json_writer *w);

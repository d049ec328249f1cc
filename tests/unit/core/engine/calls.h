#pragma once

#include "core/model/extender.h"
#include "support/stage.h"

/* An engine that asks extenders, whose part the test plays. */

extern const struct extender calls_filter, calls_scorer;

/* Three nodes, of which n3 has the most room, and these extenders. */
void calls_open(struct stage *s, const struct extender *extenders, uint32_t n);

/* What the last run asks about the pod, for the time that it is asked `nth`; NULL: nothing. */
const struct effect *calls_question(const struct stage *s, const char *pod, uint32_t nth);

/* "0 filter: n1 n2", lives in the stage. */
const char *calls_text(struct stage *s, const char *pod, uint32_t nth);

/* Answers the question in JSON with ' for ", or (beginning with "!") with this failure; of the
 * pod's next question, and goes on. */
void calls_answer(struct stage *s, const struct effect *e, const char *text);
void calls_answer_next(struct stage *s, const char *pod, const char *text);

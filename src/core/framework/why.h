#pragma once

#include "core/base/buf.h"
#include "core/framework/class.h"

/* Why nothing fits: how many nodes were refused for which reason. Read off, not counted again;
 * turned into kube-scheduler's words when somebody asks. */

struct why_line {
    reason_id reason;
    uint32_t nodes;
};

struct why {
    VEC(struct why_line) lines; /* in no order that matters */
    uint32_t nodes;             /* all nodes there are */
};

void why_clear(struct why *w);
void why_done(struct why *w);
void why_copy(struct why *to, const struct why *from);
void why_add(struct why *w, reason_id reason, uint32_t nodes);

/* Has the line more nodes than the other (NULL: there is none), or as many and words that come
 * first? */
bool why_is_weightier(const struct why_line *line, const struct why_line *other,
                      const struct reasons *reasons);

/* The reason of the weightiest line; 0: there is none. */
reason_id why_weightiest(const struct why *w, const struct reasons *reasons);

/* The plugins that refused, as bits. */
uint64_t why_plugins(const struct why *w, const struct reasons *reasons, const struct class *class);

/* "0/5 nodes are available: 2 Insufficient cpu, 3 node(s) were unschedulable.", whatever the class.
 */
void why_histogram(const struct why *w, const struct reasons *reasons, struct buf *out);

/* "a", or "[a, b]": the errors among them, which then are all there is to say. False: there is
 * none. */
bool why_errors(const struct why *w, const struct reasons *reasons, struct buf *out);

/* The histogram for a class that may be refused as a whole, or when there are no nodes. */
void why_text(const struct why *w, const struct reasons *reasons, const struct class *class,
              struct buf *out);

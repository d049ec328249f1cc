#pragma once

#include "core/model/pod.h"

/* Selectors on plain labels, as upstream matches them. The cluster matches symbols; this is the
 * same on text, for one object alone. */

/* At most 63 letters, digits, '-', '_' and '.', the first and the last a letter or digit; or
 * nothing. The API server lets preferred node affinity name others, which upstream cannot read. */
bool is_label_value(struct str s);

/* As labels and resources are called: [prefix/]name. */
bool is_qualified_name(struct str s);

/* As most objects are called (DNS-1123): at most 253 small letters, digits, '-' and '.'; every piece
 * between points begins and ends with a letter or digit. */
bool is_dns_name(struct str s);

/* In, NotIn, Exists, DoesNotExist, Gt, Lt. A key that is absent satisfies NotIn and DoesNotExist.
 * Any other operator matches nothing. */
bool requirement_matches(const struct requirement *r, pair_list labels);

/* NULL matches nothing, an empty selector everything. */
bool label_selector_matches(const struct label_selector *s, pair_list labels);

/* A term without requirements matches no node. The only field is metadata.name. */
bool node_term_matches(const struct node_selector_term *t, pair_list labels, struct str node_name);

/* One term is enough. */
bool node_selector_matches(const struct node_selector *s, pair_list labels, struct str node_name);

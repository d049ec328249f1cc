#pragma once

#include "core/base/error.h"
#include "core/model/object.h"
#include "core/wire/encoding.h"

/* What an API server's bodies hold, in JSON or in protobuf alike: one object, a list, the events of
 * a watch, a refusal. Texts may be pieces of the body and the rest lives in the arena: both must
 * outlive what was read.
 *
 *     struct envelope v;
 *     if (envelope_read(encoding_of(content_type), body, &mem, &v, &e) &&
 *         envelope_object(&v, &mem, &object, &e))
 */

/* An object that is not decoded yet. In protobuf the kind stands outside of it, in runtime.Unknown
 * behind four magic bytes; in JSON it is a part of the text. */
struct envelope {
    enum encoding encoding;
    struct str api_version, kind;
    struct str raw;
};

bool envelope_read(enum encoding encoding, struct str body, struct arena *mem, struct envelope *out,
                   struct error *e) MUST_USE;

/* The object, as its kind says: KIND_NONE without looking further if we do not read such a kind. */
bool envelope_object(const struct envelope *v, struct arena *mem, struct object *out,
                     struct error *e) MUST_USE;

/* A list, whose items are walked through one by one: each can be decoded, used and forgotten before
 * the next. */
struct listing {
    struct str resource_version;
    struct str next;   /* the token to continue with; "": this was the last page */
    int64_t remaining; /* about so many items on further pages; 0: none, or not told */
    struct envelope item;
    struct str rest; /* what has not been walked through */
};

bool listing_read(const struct envelope *v, struct arena *mem, struct listing *out,
                  struct error *e) MUST_USE;

/* The next one becomes `item`. False at the end, then with kind ERROR_NONE. */
bool listing_next(struct listing *l, struct error *e) MUST_USE;

enum watch_type { WATCH_ADDED, WATCH_MODIFIED, WATCH_DELETED, WATCH_BOOKMARK, WATCH_ERROR };

/* One frame of a watch (core/wire/frames.h). */
struct watch_event {
    enum watch_type type;
    struct envelope object; /* of WATCH_ERROR a status; of WATCH_BOOKMARK a bookmark */
};

bool watch_event_read(enum encoding encoding, struct str frame, struct arena *mem,
                      struct watch_event *out, struct error *e) MUST_USE;

/* An object that only says how far a watch has come. */
struct bookmark {
    struct str resource_version;
    bool ends_initial; /* all objects that there were when the watch began have been told */
};

bool bookmark_read(const struct envelope *v, struct arena *mem, struct bookmark *out,
                   struct error *e) MUST_USE;

/* metav1.Status: what became of a request, mostly why it was refused. */
struct status_cause {
    struct str reason, message;
};

struct status {
    int32_t code; /* as of HTTP */
    struct str reason, message;
    int32_t retry_after_seconds; /* 0: not told */
    LIST(struct status_cause) causes;
};

/* Any other kind is an error. */
bool status_read(const struct envelope *v, struct arena *mem, struct status *out,
                 struct error *e) MUST_USE;

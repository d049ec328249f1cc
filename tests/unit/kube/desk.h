#pragma once

#include "kube/listen.h"
#include "kube/request.h"

/* Where a machine under test leaves what it has to say: everything it tells its listener becomes a
 * line of a log, and so does every request when the log is read.
 *
 *     EXPECT_TEXT(desk_log(&d), "put Node /n1\n"
 *                               "READ GET /api/v1/nodes?…\n");
 */
struct desk {
    struct listener listener;
    struct requests out;
    struct buf log, shown;
    request_id last; /* of the requests shown last */
};

void desk_init(struct desk *d);
void desk_done(struct desk *d);

/* What happened since it was last read: what was told, then what was asked for. Lengths of watches
 * are left out, as they are drawn at random. */
const char *desk_log(struct desk *d);

/* An event's body, as words: its namespace, name, controller, instance, action, reason and type,
 * then apiVersion, kind, name, uid and version of what it is about, its time, and behind a colon
 * the note. */
void show_event(struct buf *out, struct str body);

/* Pieces of replies. */
struct reply reply_head(request_id id, int status);
struct reply reply_data(request_id id, const char *text);
struct reply reply_end(request_id id);
struct reply reply_lost(request_id id, bool may_have_arrived);

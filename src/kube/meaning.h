#pragma once

#include "core/model/pod.h"
#include "kube/write.h"

/* What an answer to a write means for it. */

enum write_event {
    DONE,      /* the server did it */
    REFUSED,   /* it did not and will not */
    BUSY,      /* it may later */
    UNSURE,    /* it may have done it */
    THERE,     /* the pod is on our node */
    ELSEWHERE, /* it is on another one, is another pod, or is gone */
    OPEN,      /* it is on no node yet */
    BLIND,     /* nobody could say */
    TIMER,
};

/* Of a binding that was not done; `was_sent`: it may have arrived. */
enum write_event write_bind_meaning(struct write *w, const struct trouble *why, bool was_sent);

/* Of a patch, which may be sent twice, and of what deletes a pod by its uid, or asks whether it
 * could be. */
enum write_event write_again_meaning(const struct write *w, const struct trouble *why);

/* Of an object: what may have been done must not be given up: sent again, it is done once at most.
 */
enum write_event write_object_meaning(struct write *w, const struct trouble *why, bool was_sent);

/* Of a binding, if this is its pod. */
enum write_event write_pod_meaning(const struct write *w, const struct pod *pod);

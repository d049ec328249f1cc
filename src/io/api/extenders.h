#pragma once

#include "io/loop/loop.h"
#include "kube/extender_client.h"

/* Carries kube's requests to HTTP extenders, each over connections of its own, and their replies
 * back. */

struct extenders;

struct extenders_owner {
    void (*reply)(void *ctx, const struct reply *reply);
    void *ctx;
};

/* The list must outlive them. NULL, with e set, if a file or a certificate will not do. */
struct extenders *extenders_new(struct loop *l, const struct extender *list, uint32_t n,
                                struct extenders_owner owner, struct error *e) MUST_USE;

/* Whatever is under way is lost, and the owner is told so. */
void extenders_free(struct extenders *x);

/* Those of the requests that are for extenders. */
void extenders_send(struct extenders *x, const struct requests *requests);

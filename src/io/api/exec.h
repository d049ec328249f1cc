#pragma once

#include "io/api/kubeconfig.h"
#include "io/loop/child.h"

/* Programs that print who we are (client.authentication.k8s.io), as `aws eks get-token` does. */

/* Starts the kubeconfig's program; what it prints is for exec_read(). */
struct child *exec_start(struct loop *l, const struct kubeconfig *k, child_fn *fn, void *ctx,
                         struct error *e) MUST_USE;

/* Puts what the program printed in place of the kubeconfig's own token and certificate.
 * `expires_ms` is 0 if it did not say. */
bool exec_read(struct kubeconfig *k, struct str output, int64_t *expires_ms,
               struct error *e) MUST_USE;

#pragma once

#include "core/cluster/cluster.h"
#include "core/model/claim_write.h"

/* Extended resources that devices stand for. On a node that does not offer them itself, a pod gets
 * them through a claim of its own: a request for what each container asks for, which init
 * containers that end leave to those that start later. The scheduler makes it and tells the pod
 * which container uses which request. As kube-scheduler does it. */

/* An extended resource of a pod, and the class whose devices stand for it. */
struct backed {
    resource_id resource;
    struct str name;
    const struct device_class *class;
};

/* By name; some of them, as bits, are asked for on a node. */
struct backed_set {
    struct backed *at;
    uint32_t n;
};

enum { BACKED_MOST = 32 };

/* Which extended resources of the spec a class stands for. */
struct backed_set extended_backed(const struct cluster *c, const struct spec *spec,
                                  struct arena *mem);

/* The claim, without a name, for those of them that `mask` names. */
const struct resource_claim *extended_claim(const struct spec *spec, struct backed_set set,
                                            uint32_t mask, struct str namespace, struct arena *mem);

/* Which container uses which of its requests. */
request_mapping_list extended_mappings(const struct cluster *c, const struct spec *spec,
                                       struct backed_set set, uint32_t mask, struct arena *mem);

/* What the pod's claim is called, as a server would have called it: told apart by `salt` from those
 * of earlier tries. */
struct str extended_name(struct str pod, struct str uid, uint64_t salt, struct arena *mem);

#pragma once

#include "core/base/arena.h"
#include "core/model/object.h"

/* An object from one line, so that a test's cluster fits into its first lines:
 *
 *     node n1 cpu=8 memory=32Gi gpu=8 zone=a taint:gpu=yes:NoSchedule
 *     pod web-0 cpu=500m label:app=web spread:zone:1:hard:app=web
 *     service web app=web
 *
 * kind, name, then words in any order. A word nobody knows ends the program.
 *
 * Amounts (of a node: allocatable; of a pod: its container's requests) are cpu=, memory=, pods=,
 * gpu= (nvidia.com/gpu), storage= (ephemeral-storage), or any name with a slash or "hugepages-".
 *
 * node:  zone=V                    a label topology.kubernetes.io/zone
 *        host=V                    kubernetes.io/hostname; without it, the name; empty: no label
 *        label:K=V  note:K=V       image:NAME=SIZE            cordoned
 *        taint:K=V:EFFECT          pods= is 110 unless given
 * pod:   namespace=N               default               uid=U          the name
 *        scheduler=S               default-scheduler     on=NODE        spec.nodeName
 *        priority=N  phase=P       nominated=NODE        deleting       preempts=Never
 *        started=SECONDS           preempted (deleting, because a scheduler evicted it)
 *        label:K=V  note:K=V       owner:KIND=NAME       gate:NAME
 *        class=NAME                priorityClassName; note: is an annotation
 *        gang=NAME:MIN             labels of a gang, and scheduler=kubenexus-scheduler
 *        group=NAME                spec.schedulingGroup  created=SECONDS
 *        image:NAME                port:[IP:]PORT[/PROTOCOL]            device:NAME, a resource
 * claim claim:NAME                a volume; as are disk:KIND:NAME[:ro] with gce, aws, iscsi, azure,
 * cinder, portworx, vsphere, disk:rbd:POOL/IMAGE@MONITOR|…[:ro], disk:ephemeral:NAME and
 * disk:csi:DRIVER and | init | sidecar      begins another container overhead:R=V total:R=V
 * requests of the pod as a whole actual:R=V                what status says the first container has
 *        guaranteed                limits are what is requested, in every container
 *        tolerate:K:OP:V:EFFECT    any of them may be empty
 *        select:K=V                nodeSelector
 *        require:LINE[&LINE…]      a term; LINE is KEY:OP:V|V|…; a KEY @f is a matchField f;
 *                                  "require:" alone is a term without lines, "require" no term
 *        prefer:WEIGHT:LINE…       the same, preferred
 *        spread:K:SKEW:hard|soft:SELECTOR[:OPTION…]   K: zone, host, or a label's key;
 *                                  SELECTOR: K=V[&K=V…], "*" (everything), or "-" (there is none);
 *                                  OPTION: min=N, keys=K|K, affinity=Ignore, taints=Honor
 *        near:K:SELECTOR[:OPTION…]  pod affinity; apart: is anti-affinity; K and SELECTOR as above;
 *                                  OPTION: weight=N (preferred), in=NAMESPACE|…, like=SELECTOR
 * service, replicaset, statefulset, replicationcontroller:
 *        namespace=N and the selector as K=V words; "none": no selector at all
 * budget:    a PodDisruptionBudget: namespace=N allowed=N evicted=POD, and the selector as K=V
 * words namespace: label:K=V */
struct object object_of(struct arena *mem, const char *line);

/* The same from a manifest in JSON with ' for ", as the API server would have stored it:
 *
 *     {'kind':'StorageClass','apiVersion':'storage.k8s.io/v1','metadata':{'name':'fast'}}
 *
 * object_of() takes a line that begins with { for one. */
struct object object_of_json(struct arena *mem, const char *json);

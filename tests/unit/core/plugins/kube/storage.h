#pragma once

/* Objects about volumes for tests, in JSON with ' for " (support/objects.h). `rest` is what stands
 * in the spec beside the usual. */

#define STORAGE "'apiVersion':'storage.k8s.io/v1'"
#define VOLUME(name, rest)                                                                         \
    "{'apiVersion':'v1','kind':'PersistentVolume','metadata':{'name':'" name "'},'status':"        \
    "{'phase':'Available'},'spec':{'capacity':{'storage':'10Gi'},'accessModes':"                   \
    "['ReadWriteOnce'],'storageClassName':'fast'" rest "}}"
#define LABELLED_VOLUME(name, labels)                                                              \
    "{'apiVersion':'v1','kind':'PersistentVolume','metadata':{'name':'" name "','labels':{" labels \
    "}},'spec':{'capacity':{'storage':'10Gi'}}}"
#define CLAIM_META(name) "{'name':'" name "','namespace':'default','uid':'claim-" name "'"
#define CLAIM(name, mode, rest)                                                                    \
    "{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':" CLAIM_META(                    \
        name) "},"                                                                                 \
              "'spec':{'accessModes':['" mode "'],'resources':{'requests':{'storage':'5Gi'}}" rest \
              "}}"
#define BOUND(name, volume)                                                                        \
    "{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':" CLAIM_META(                    \
        name) ",'annotations':{'pv.kubernetes.io/bind-completed':'yes'}},"                         \
              "'spec':{'accessModes':['ReadWriteOnce'],'volumeName':'" volume "'}}"
#define CLASS(name, provisioner, rest)                                                             \
    "{" STORAGE ",'kind':'StorageClass','metadata':{'name':'" name                                 \
    "'},'provisioner':'" provisioner "'" rest "}"
#define WAITS ",'volumeBindingMode':'WaitForFirstConsumer'"
#define CSI_NODE(name, drivers)                                                                    \
    "{" STORAGE ",'kind':'CSINode','metadata':{'name':'" name "'},'spec':{'drivers':[" drivers "]" \
    "}"                                                                                            \
    "}"
#define LIMIT(driver, count) "{'name':'" driver "','allocatable':{'count':" count "}}"
#define CSI(handle)          ",'csi':{'driver':'d.example','volumeHandle':'" handle "'}"
#define REACH(key, value)                                                                          \
    ",'nodeAffinity':{'required':{'nodeSelectorTerms':[{'matchExpressions':[{'key':'" key          \
    "','operator':'In','values':['" value "']}]}]}}"

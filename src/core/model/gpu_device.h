#pragma once

#include "core/base/arena.h"
#include "core/model/device.h"

/* A GPU as its driver describes it in a ResourceSlice.
 *
 * Drivers spell the same thing differently, and the names of older documents (numa-node,
 * pcie-switch) are none that the API takes. So a name counts by its letters and digits, whatever
 * its domain: numaNode, numa_node and resource.kubernetes.io/numaNode are one. */

struct gpu_facts {
    int64_t vram_bytes; /* 0: unsaid */
    int64_t zone;       /* the NUMA node it sits on; -1: unsaid */
    struct str product; /* these: empty if unsaid */
    struct str uuid, bus;
    struct str root;   /* the PCIe switch, or else the root, that it hangs on */
    struct str domain; /* of NVLink: all in it are linked with each other */
    struct str peers;  /* names, uuids or bus ids of those that it is linked with, with commas */
    bool is_part;      /* a slice of a GPU, with memory of its own */
};

/* Does the driver's name say that it has GPUs? */
bool gpu_driver(struct str driver);

/* False if the device is another thing (a channel, a whole GPU for a virtual machine). What is made
 * up lives in `mem`. */
bool gpu_facts_read(const struct device *device, struct arena *mem, struct gpu_facts *out);

/* Is the device of these facts and this name meant by a list of peers? */
bool gpu_is_peer(struct str peers, struct str name, const struct gpu_facts *facts);

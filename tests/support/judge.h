#pragma once

#include "core/framework/scan.h"
#include "core/framework/view.h"
#include "support/ground.h"

/* A profile's judgement of pods on a ground.
 *
 *     AUTO(judge) j = {.profile = &profile};
 *     ground_add(&j.ground, "node n1 cpu=1");
 *     ground_add(&j.ground, "pod a cpu=2");
 *     EXPECT_TEXT(judge_verdict(&j, "a", "n1"), "UU NodeResourcesFit: Insufficient cpu");
 */
struct judge {
    struct ground ground;
    const struct profile *profile;
    struct classes classes; /* made with the first question */
    struct scan scan;
    struct views views;
    struct buf text;
};

void judge_done(struct judge *j);

/* The class of a pod of the namespace default. */
struct class *judge_class(struct judge *j, const char *pod);

/* What the pod is told of the node: "fits", or U (Unschedulable) or UU
 * (UnschedulableAndUnresolvable), the plugin ("-": nobody's), and the reasons. A pod that is
 * refused or cannot be judged as a whole: "refused: …", "error: …". Lives until the next call. */
const char *judge_verdict(struct judge *j, const char *pod, const char *node);

/* The plugin's score of the node for the pod, among all nodes that fit. */
struct judge_score {
    bool takes_part;
    int64_t raw, normal;
};
struct judge_score judge_score(struct judge *j, const struct plugin *plugin, const char *pod,
                               const char *node);

/* Would this plugin wake a pod it refused? The event is a change of the object that the lines
 * describe from the one to the other; NULL: it was not there, or is gone. */
bool judge_wakes(struct judge *j, const struct plugin *plugin, const char *pod,
                 enum event_resource resource, uint32_t actions, const char *old_line,
                 const char *new_line);

/* What a scan decides: the node's name, "" if none fits; and what the class's view decides, NULL if
 * it has none. */
const char *judge_scan(struct judge *j, const char *pod);
const char *judge_view(struct judge *j, const char *pod);

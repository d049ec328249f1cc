#include "kube/object_write.h"

#include "support/test.h"

/* "VERB TYPE PATH BODY" of a step. */
static const char *request(const struct object_write *w, uint32_t step)
{
    static const char *const verbs[] = {
        [VERB_POST] = "POST", [VERB_PATCH] = "PATCH", [VERB_DELETE] = "DELETE"};
    static char text[1024];
    struct requests out = {0};
    struct object_write kept = object_write_keep(w);
    struct request r = object_write_request(&kept, step, NULL, &out);
    snprintf(text, sizeof(text), "%s " STR_FMT " " STR_FMT " " STR_FMT, verbs[r.verb],
             STR_ARG(r.content_type), STR_ARG(r.path), STR_ARG(r.body));
    object_write_free(&kept);
    requests_done(&out);
    return text;
}

TEST(object_write, a_step_makes_changes_or_deletes_the_object_or_changes_another)
{
    struct arena mem = {0};
    struct patch made = {
        .verb = OBJECT_CREATE, .meta = STR("\"name\":\"c\""), .body = STR("\"spec\":{}")};
    struct patch changed = {.part = STR("status"), .body = STR("\"status\":{}")};
    struct patch of_pod = changed;
    of_pod.kind = KIND_POD;
    of_pod.name = STR("p");
    of_pod.meta = patch_uid(STR("u"), &mem);
    struct patch steps[] = {made, changed, of_pod, patch_delete(STR("a\"b"), &mem)};
    static const char *const wanted[] = {
        "POST application/json /apis/resource.k8s.io/v1/namespaces/x/resourceclaims "
        "{\"metadata\":{\"resourceVersion\":\"7\",\"name\":\"c\"},\"spec\":{}}",
        "PATCH application/strategic-merge-patch+json "
        "/apis/resource.k8s.io/v1/namespaces/x/resourceclaims/c/status "
        "{\"metadata\":{\"resourceVersion\":\"7\"},\"status\":{}}",
        "PATCH application/strategic-merge-patch+json /api/v1/namespaces/x/pods/p/status "
        "{\"metadata\":{\"uid\":\"u\"},\"status\":{}}",
        "DELETE application/json /apis/resource.k8s.io/v1/namespaces/x/resourceclaims/c "
        "{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\",\"preconditions\":{\"uid\":\"a\\\"b\"}}",
    };
    struct object_write w = {.kind = KIND_RESOURCE_CLAIM,
                             .namespace = STR("x"),
                             .name = STR("c"),
                             .version = 7,
                             .patches = steps,
                             .n_patches = LEN(steps)};
    for (uint32_t i = 0; i < LEN(steps); i++)
        EXPECT_TEXT(request(&w, i), wanted[i]);
    arena_done(&mem);
}

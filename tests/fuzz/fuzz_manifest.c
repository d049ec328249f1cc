/* Any bytes as a file: objects with names, defaults and requests, or one line that says what is
 * wrong and nothing else. */

#include "core/model/owner.h"
#include "core/model/resources.h"
#include "io/files/manifest_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void check_object(const struct object *object, struct arena *mem)
{
    static const struct request_rules rules = {true, true, true, 0};
    assert(object->meta->name.n && object->meta->uid.n);
    assert(!kind_info_get(object->kind)->is_namespaced || object->meta->namespace.n);
    struct pod_group group;
    if (kind_is_owner(object->kind) && pod_group_of(object, mem, &group))
        assert(group.minimum >= 0);
    if (object->kind != KIND_POD)
        return;
    assert(object->pod->spec.scheduler_name.n);
    amount_list total = pod_requests(object->pod, rules, mem);
    list_each(&total, a)
        assert(a->quantity.nano >= 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct objects o = {0};
    struct error e = {0};
    if (objects_read_text(&o, "file", (struct str){(const char *)bytes, n}, &e)) {
        assert(e.kind == ERROR_NONE && o.all.n == o.places.n && (o.all.n || !o.skipped.n));
        vec_each(&o.all, object)
            check_object(object, &o.mem);
    } else {
        assert(e.kind == ERROR_INVALID && e.text[0]);
        assert(o.all.n == 0 && !o.mem.first && o.texts.n == 0);
    }
    objects_done(&o);
    return 0;
}

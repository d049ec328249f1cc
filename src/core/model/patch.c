#include "core/model/patch.h"

#include "core/wire/json_write.h"

struct str patch_uid(struct str uid, struct arena *mem)
{
    AUTO(buf) text = {0};
    buf_add(&text, STR("\"uid\":"));
    json_add_str(&text, uid);
    return arena_str(mem, buf_str(&text));
}

struct patch patch_delete(struct str uid, struct arena *mem)
{
    return (struct patch){
        .verb = OBJECT_DELETE,
        .body = arena_join(mem,
                           STR("\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\","
                               "\"preconditions\":{"),
                           patch_uid(uid, mem), STR("}")),
    };
}

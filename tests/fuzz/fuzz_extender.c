/* Any bytes as an extender's answer, to the question that the first of them stands for: read, or
 * refused with a word; and as an object to be shown, of which a part is left out. */

#include "core/base/buf.h"
#include "core/model/extender.h"
#include "core/wire/json_read.h"
#include "kube/raw.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void check_answer(enum extender_verb verb, struct str text)
{
    struct arena mem = {0};
    struct extender_answer a;
    struct error e = {0};
    if (extender_read(verb, text, &mem, &a, &e))
        assert(verb == EXTENDER_PRIORITIZE || a.scores.n == 0);
    else
        assert(e.text[0]);
    arena_done(&mem);
}

/* What is left of an object is one. */
static void check_raw(struct str text)
{
    struct arena mem = {0};
    struct raws raws = {0};
    struct error e = {0};
    struct str value;
    size_t where;
    uint32_t i = raws_hold(&raws, KIND_NODE, STR(""), STR("n"), STR(""));
    if (raws_put(&raws, i, text, &mem, &e)) {
        struct str json = raws_at(&raws, i)->json;
        bool is_json = json_take(&json, &value, &where, &e);
        assert(is_json);
    }
    struct str next;
    (void)!raws_put_page(&raws, text, &mem, &next, &e);
    raws_drop(&raws, i);
    raws_done(&raws);
    arena_done(&mem);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    if (n == 0)
        return 0;
    struct str text = {(const char *)bytes + 1, n - 1};
    check_answer((enum extender_verb)(bytes[0] % EXTENDER_VERBS), text);
    check_raw(text);
    return 0;
}

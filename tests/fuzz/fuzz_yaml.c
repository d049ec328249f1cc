/* Any bytes as YAML: what comes out must be JSON, each mark on a line that exists. */

#include "core/wire/json_read.h"
#include "core/wire/yaml.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct yaml_reader *y = yaml_reader_new((struct str){(const char *)bytes, n});
    struct yaml_document d = {0};
    struct error e;
    while (yaml_reader_next(y, &d, &e)) {
        struct str rest = buf_str(&d.json), value;
        size_t where;
        bool is_json = json_take(&rest, &value, &where, &e);
        assert(is_json && rest.n == 0);
        vec_each(&d.marks, mark)
            assert(mark->line >= 1 && mark->line <= n + 1 && mark->offset <= d.json.n);
    }
    assert(e.kind == ERROR_NONE || (d.line >= 1 && d.line <= n + 2));
    yaml_document_done(&d);
    yaml_reader_free(y);
    return 0;
}

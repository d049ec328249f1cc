#include "core/model/driver.h"

#include "support/objects.h"
#include "support/test.h"

TEST(driver, says_how_many_it_needs_and_what_each_asks_for)
{
    static const struct {
        const char *annotations, *needs;
    } cases[] = {
        {"", "none"},
        {"'kubenexus.io/executor-cpu':'2'", "none"},
        {"'kubenexus.io/executor-count':'0'", "none"},
        {"'kubenexus.io/executor-count':'four'", "none"},
        {"'kubenexus.io/executor-count':'4'", "4 cpu=1000 memory=750000000000"},
        {"'kubenexus.io/executor-count':'2','kubenexus.io/executor-cpu':'500m','kubenexus.io/"
         "executor-memory':'1k',"
         "'kubenexus.io/executor-gpu':'1'",
         "2 cpu=500 memory=1000000 nvidia.com/gpu=1000"},
        {"'kubenexus.io/executor-count':'9','kubenexus.io/dynamic-allocation-enabled':'true',"
         "'kubenexus.io/min-executors':'3'",
         "3 cpu=1000 memory=750000000000"},
        {"'kubenexus.io/executor-count':'9','kubenexus.io/dynamic-allocation-enabled':'true'",
         "none"},
        {"'kubenexus.io/executor-count':'1','kubenexus.io/executor-cpu':'many'",
         "1 cpu=1000 memory=750000000000"},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        struct arena mem = {0};
        AUTO(buf) text = {0};
        struct str json = arena_printf(
            &mem, "{'kind':'Pod','apiVersion':'v1','metadata':{'name':'p','annotations':{%s}}}",
            cases[i].annotations);
        struct driver_needs needs;
        if (driver_needs(object_of_json(&mem, json.p).pod, &mem, &needs)) {
            buf_printf(&text, "%u", needs.workers);
            list_each(&needs.each, a)
                buf_printf(&text, " " STR_FMT "=%lld", STR_ARG(a->name),
                           (long long)quantity_milli(a->quantity));
        } else {
            buf_add(&text, STR("none"));
        }
        EXPECT_STR(buf_str(&text), cases[i].needs);
        arena_done(&mem);
    }
}

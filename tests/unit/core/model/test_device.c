#include "core/model/device.h"

#include "core/model/tables.h"
#include "core/wire/json_read.h"
#include "support/objects.h"
#include "support/test.h"

static struct device_attribute attribute(struct arena *mem, const char *value)
{
    struct object o = object_of_json(
        mem, arena_printf(mem,
                          "{'apiVersion':'resource.k8s.io/v1','kind':'ResourceSlice','metadata':"
                          "{'name':'s'},'spec':{'driver':'d','devices':[{'name':'d0','attributes':"
                          "{'a':{%s}}}]}}",
                          value)
                 .p);
    return o.resource_slice->spec.devices.at[0].attributes.at[0];
}

TEST(device, an_attribute_has_one_of_four_types_or_none)
{
    static const struct {
        const char *value;
        enum attribute_type type;
    } cases[] = {
        {"'int':0", ATTRIBUTE_INT},
        {"'bool':false", ATTRIBUTE_BOOL},
        {"'string':''", ATTRIBUTE_STRING},
        {"'version':'1.2.3'", ATTRIBUTE_VERSION},
        {"", ATTRIBUTE_NONE},
        {"'ints':[1,2]", ATTRIBUTE_NONE}, /* a list, which only a gate makes possible */
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(arena) mem = {0};
        test_case("{%s}", cases[i].value);
        struct device_attribute a = attribute(&mem, cases[i].value);
        EXPECT_INT(attribute_type(&a), cases[i].type);
    }
}

TEST(device, attributes_are_equal_if_type_and_value_are)
{
    static const struct {
        const char *one, *other;
        bool are_equal;
    } cases[] = {
        {"'int':1", "'int':1", true},
        {"'int':1", "'int':2", false},
        {"'bool':true", "'bool':true", true},
        {"'bool':true", "'bool':false", false},
        {"'string':'a'", "'string':'a'", true},
        {"'string':'a'", "'string':'A'", false},
        {"'version':'1.0.0'", "'version':'1.0.0'", true},
        {"'version':'1.0.0'", "'string':'1.0.0'", false},
        {"'int':0", "'bool':false", false},
        {"", "", false}, /* none is like none other */
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(arena) mem = {0};
        test_case("{%s} and {%s}", cases[i].one, cases[i].other);
        struct device_attribute a = attribute(&mem, cases[i].one);
        struct device_attribute b = attribute(&mem, cases[i].other);
        EXPECT_INT(attribute_equal(&a, &b), cases[i].are_equal);
        EXPECT_INT(attribute_equal(&b, &a), cases[i].are_equal);
    }
}

TEST(device, what_may_be_asked_of_a_capacity_is_a_list_or_a_range)
{
    AUTO(arena) mem = {0};
    struct object o = object_of_json(
        &mem, "{'apiVersion':'resource.k8s.io/v1','kind':'ResourceSlice','metadata':{'name':'s'},"
              "'spec':{'driver':'d','devices':[{'name':'d0','allowMultipleAllocations':true,"
              "'capacity':{'memory':{'value':'80Gi','requestPolicy':{'default':'1Gi','validRange':"
              "{'min':'1Gi','step':'512Mi'}}},'slots':{'value':'7','requestPolicy':{'default':'1',"
              "'validValues':['1','2','4']}},'plain':{'value':'2'}}}]}}");
    const struct device *d = &o.resource_slice->spec.devices.at[0];
    EXPECT(d->is_shared);
    REQUIRE(d->capacity.n == 3);
    list_each(&d->capacity, c) {
        test_case(STR_FMT, STR_ARG(c->name));
        if (str_equal(c->name, STR("plain"))) {
            EXPECT(!c->policy);
            continue;
        }
        REQUIRE(c->policy && c->policy->has_default);
        bool is_range = str_equal(c->name, STR("memory"));
        EXPECT_INT(c->policy->valid_values.n, is_range ? 0 : 3);
        EXPECT_INT(c->policy->valid_range != NULL, is_range);
        if (is_range)
            EXPECT(c->policy->valid_range->has_min && c->policy->valid_range->has_step &&
                   !c->policy->valid_range->has_max);
    }
}

TEST(device, a_taint_rule_tells_what_it_names_from_what_it_leaves_open)
{
    AUTO(arena) mem = {0};
    struct object o = object_of_json(
        &mem, "{'apiVersion':'resource.k8s.io/v1beta2','kind':'DeviceTaintRule','metadata':{'name':"
              "'t'},'spec':{'deviceSelector':{'driver':'','pool':'p'},'taint':{'key':'k','effect':"
              "'NoExecute'}}}");
    const struct device_taint_selector *s = o.device_taint_rule->selector;
    REQUIRE(s);
    EXPECT(s->has_driver && s->has_pool && !s->has_device);
    EXPECT_STR(o.device_taint_rule->taint.effect, "NoExecute");
}

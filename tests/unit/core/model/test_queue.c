#include "core/model/queue.h"

#include "core/model/check.h"
#include "core/model/gist.h"
#include "core/wire/json_read.h"
#include "support/objects.h"
#include "support/test.h"

#define HEAD                                                                                       \
    "{'apiVersion':'scheduling.kubenexus.io/v1alpha1','kind':'Queue',"                             \
    "'metadata':{'name':'research','uid':'u'}"

/* Single quotes stand for double ones. */
static struct str quoted(struct arena *mem, const char *json)
{
    struct str text = str_of(json);
    char *copy = arena_copy(mem, text.p, text.n);
    for (size_t i = 0; i < text.n; i++)
        copy[i] = copy[i] == '\'' ? '"' : copy[i];
    return (struct str){copy, text.n};
}

/* What is wrong with a Queue of this spec; empty: nothing. */
static const char *wrong(struct arena *mem, const char *spec)
{
    size_t where;
    static struct error e;
    AUTO(buf) json = {0};
    buf_printf(&json, HEAD ",'spec':%s}", spec);
    e = (struct error){0};
    struct object o = {.kind = KIND_QUEUE, .queue = arena_alloc(mem, sizeof(*o.queue))};
    const struct kind_info *info = kind_info_get(KIND_QUEUE);
    if (json_read(quoted(mem, json.p), info->fields, o.meta, mem, &where, &e) &&
        object_check(&o, &e))
        return "";
    return e.text;
}

TEST(queue, is_what_it_says)
{
    AUTO(arena) mem = {0};
    struct object o = object_of_json(
        &mem,
        HEAD ",'spec':{'parent':'ml','guaranteed':{'nvidia.com/gpu':16,'cpu':'1500m',"
             "'nvidia.com/gpu@H100':'8'},'max':{'nvidia.com/gpu':'24'},"
             "'lend':{'nvidia.com/gpu':2},'weight':3,'maxJobs':0,'minRunSeconds':60,"
             "'namespaces':{'names':['a','b'],'selector':{}},"
             "'split':{'by':'Label','label':'example.com/group',"
             "'each':{'max':{'pods':4},'maxJobs':2}},'stop':'Hold',"
             "'budgets':[{'resource':'nvidia.com/gpu','hours':1000,'window':'Month',"
             "'action':'Hard'},{'resource':'cpu','hours':0,'window':'36h'}],"
             "'provisioning':{'class':'c','parameters':{'k':'v'},'delaySeconds':5}},"
             "'status':{'asOf':'2026-01-01T00:00:00Z','history':[{'resource':'cpu','amount':'65536'"
             "}],'budgets':[{'resource':'cpu','window':'Day','from':'2026-01-01T00:00:00Z',"
             "'until':'2026-01-02T00:00:00Z','spent':'12'}]}}");
    const struct queue_object *q = o.queue;
    REQUIRE(o.kind == KIND_QUEUE);
    EXPECT_STR(q->spec.parent, "ml");
    REQUIRE(q->spec.guaranteed.n == 3 && q->spec.max.n == 1 && q->spec.lend.n == 1);
    EXPECT_STR(q->spec.guaranteed.at[0].name, "cpu");
    EXPECT_INT(quantity_milli(q->spec.guaranteed.at[0].quantity), 1500);
    EXPECT_STR(q->spec.guaranteed.at[2].name, "nvidia.com/gpu@H100");
    EXPECT_INT(queue_weight(q), 3);
    EXPECT(q->spec.has_max_jobs && q->spec.max_jobs == 0);
    EXPECT(q->spec.has_min_run && q->spec.min_run_s == 60);
    REQUIRE(q->spec.namespaces && q->spec.namespaces->names.n == 2);
    EXPECT(q->spec.namespaces->selector);
    EXPECT_INT(queue_split_by(q), SPLIT_LABEL);
    EXPECT_STR(q->spec.split->label, "example.com/group");
    EXPECT(q->spec.split->each_max.n == 1 && q->spec.split->has_each_max_jobs);
    EXPECT_INT(queue_stop(q), QUEUE_HOLD);
    REQUIRE(q->spec.budgets.n == 2);
    EXPECT(queue_budget_is_hard(&q->spec.budgets.at[0]));
    EXPECT(!queue_budget_is_hard(&q->spec.budgets.at[1]));
    EXPECT_INT(queue_window(q->spec.budgets.at[0].window).kind, WINDOW_MONTH);
    EXPECT_INT(queue_window(q->spec.budgets.at[1].window).span_ms, 36 * 3600 * 1000);
    EXPECT_INT(q->spec.provisioning->delay_s, 5);
    REQUIRE(q->status.history.n == 1 && q->status.budgets.n == 1);
    EXPECT_STR(q->status.history.at[0].amount, "65536");
    EXPECT_INT(q->status.budgets.at[0].until_ms - q->status.as_of_ms, 86400000);
}

TEST(queue, left_out_means_no_limit_and_an_equal_share)
{
    AUTO(arena) mem = {0};
    const struct queue_object *q = object_of_json(&mem, HEAD "}").queue;
    EXPECT_INT(queue_weight(q), 1);
    EXPECT_INT(queue_stop(q), QUEUE_OPEN);
    EXPECT_INT(queue_split_by(q), SPLIT_NONE);
    EXPECT(!q->spec.has_max_jobs && !q->spec.has_min_run && !q->spec.namespaces);
    EXPECT_INT(q->spec.guaranteed.n + q->spec.max.n + q->spec.lend.n + q->spec.budgets.n, 0);
    EXPECT_INT(q->status.as_of_ms, TIME_NONE);
    EXPECT_INT(q->invalid.n, 0);
}

TEST(queue, says_which_field_and_value_make_no_sense)
{
    static const struct {
        const char *spec, *text;
    } cases[] = {
        {"{}", ""},
        {"{'weight':1}", ""},
        {"{'weight':1000000,'max':{'cpu':1},'guaranteed':{'cpu':'1000m'},'lend':{'cpu':1}}", ""},
        {"{'max':{'memory':1},'guaranteed':{'cpu':4},'lend':{'cpu':0}}", ""},
        {"{'guaranteed':{'cpu@karpenter.sh/capacity-type=spot':1,'vram':'80Gi',"
         "'gpu.example.com.deviceclass.resource.k8s.io/devices':3}}",
         ""},
        {"{'weight':0}", "spec.weight: 0 is not in 1 to 1000000"},
        {"{'weight':1000001}", "spec.weight: 1000001 is not in 1 to 1000000"},
        {"{'weight':'x'}", "spec.weight: \"x\" is not a 64-bit integer"},
        {"{'maxJobs':-1}", "spec.maxJobs: -1 is not in 0 to 1000000"},
        {"{'minRunSeconds':604801}", "spec.minRunSeconds: 604801 is not in 0 to 604800"},
        {"{'guaranteed':{'cpu':'-1'}}", "spec.guaranteed[cpu]: -1 is below 0"},
        {"{'guaranteed':{'cpu':'lots'}}", "spec.guaranteed.cpu: \"lots\" is not a quantity"},
        {"{'max':{'c p u':1}}", "spec.max: \"c p u\" is no resource (cpu, nvidia.com/gpu, "
                                "nvidia.com/gpu@MODEL, cpu@LABEL=VALUE)"},
        {"{'max':{'cpu@':1}}", "spec.max: \"cpu@\" is no resource (cpu, nvidia.com/gpu, "
                               "nvidia.com/gpu@MODEL, cpu@LABEL=VALUE)"},
        {"{'guaranteed':{'nvidia.com/gpu':16},'max':{'nvidia.com/gpu':8}}",
         "spec.max[nvidia.com/gpu]: 8 is less than guaranteed"},
        {"{'guaranteed':{'cpu':1},'lend':{'cpu':'1001m'}}",
         "spec.lend[cpu]: 1001m is more than guaranteed"},
        {"{'lend':{'cpu':1}}", "spec.lend[cpu]: 1 is more than guaranteed"},
        {"{'parent':'research'}", "spec.parent: \"research\" is the queue itself"},
        {"{'parent':'Ops'}", "spec.parent: \"Ops\" is not a name"},
        {"{'parent':'a..b'}", "spec.parent: \"a..b\" is not a name"},
        {"{'namespaces':{'names':['a.b']}}",
         "spec.namespaces.names: \"a.b\" is no name of a namespace"},
        {"{'namespaces':{'selector':{'matchExpressions':[{'key':'a','operator':'Like'}]}}}",
         "spec.namespaces.selector.matchExpressions[0].operator: \"Like\" is not one of In NotIn "
         "Exists DoesNotExist"},
        {"{'split':{}}", "spec.split.by: \"\" is none of Namespace, User, Label"},
        {"{'split':{'by':'Group'}}", "spec.split.by: \"Group\" is none of Namespace, User, Label"},
        {"{'split':{'by':'Label'}}", "spec.split.label: \"\" is no key of a label"},
        {"{'split':{'by':'User','label':'x'}}",
         "spec.split.label: \"x\" is there without by: Label"},
        {"{'split':{'by':'User','each':{'maxJobs':-1}}}",
         "spec.split.each.maxJobs: -1 is not in 0 to 1000000"},
        {"{'split':{'by':'User','each':{'max':{'cpu':-1}}}}",
         "spec.split.each.max[cpu]: -1 is below 0"},
        {"{'stop':'Later'}", "spec.stop: \"Later\" is none of None, Hold, Drain"},
        {"{'budgets':[{'resource':'cpu','window':'Day'}]}", "spec.budgets[0]: hours: missing"},
        {"{'budgets':[{'resource':'cpu','hours':-2,'window':'Day'}]}",
         "spec.budgets[0]: hours: -2 is not in 0 to 9223372036854775807"},
        {"{'budgets':[{'resource':'cpu','hours':1,'window':'59m'}]}",
         "spec.budgets[0]: window: \"59m\" is none of Day, Week, Month, and no duration of an hour "
         "or more"},
        {"{'budgets':[{'resource':'cpu','hours':1,'window':'1h','action':'Kill'}]}",
         "spec.budgets[0]: action: \"Kill\" is neither Soft nor Hard"},
        {"{'budgets':[{'resource':'cpu','hours':1,'window':'1h'},"
         "{'resource':'cpu','hours':2,'window':'1h'}]}",
         "spec.budgets[1]: window: \"1h\" is there twice for the resource"},
        {"{'provisioning':{}}", "spec.provisioning.class: missing"},
        {"{'provisioning':{'class':'c','delaySeconds':-1}}",
         "spec.provisioning.delaySeconds: -1 is not in 0 to 2147483647"},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(arena) mem = {0};
        test_case("%s", cases[i].spec);
        EXPECT_TEXT(wrong(&mem, cases[i].spec), cases[i].text);
    }
}

TEST(queue, has_a_limit_for_each_list)
{
    static const struct {
        const char *before, *each, *after; /* `each` has one number in it */
        uint32_t most;
        const char *text;
    } cases[] = {
        {"{'guaranteed':{", "'example.com/r%u':1", "}}", QUEUE_KEYS_MOST,
         "spec.guaranteed: 65 entries, of which there may be 64"},
        {"{'namespaces':{'names':[", "'n%u'", "]}}", QUEUE_NAMES_MOST,
         "spec.namespaces.names: 1025 entries, of which there may be 1024"},
        {"{'budgets':[", "{'resource':'r%u','hours':1,'window':'Day'}", "]}", QUEUE_BUDGETS_MOST,
         "spec.budgets: 9 entries, of which there may be 8"},
        {"{'provisioning':{'class':'c','parameters':{", "'k%u':'v'", "}}}", QUEUE_PARAMETERS_MOST,
         "spec.provisioning.parameters: 101 entries, of which there may be 100"},
    };
    for (size_t i = 0; i < LEN(cases); i++)
        for (uint32_t more = 0; more < 2; more++) {
            AUTO(arena) mem = {0};
            AUTO(buf) spec = {0};
            buf_add(&spec, str_of(cases[i].before));
            for (uint32_t k = 0; k < cases[i].most + more; k++) {
                struct str each = str_of(cases[i].each);
                size_t at = str_find(each, '%');
                buf_printf(&spec, "%s" STR_FMT "%u" STR_FMT, k ? "," : "",
                           STR_ARG(str_part(each, 0, at)), k,
                           STR_ARG(str_part(each, at + 2, each.n)));
            }
            buf_add(&spec, str_of(cases[i].after));
            test_case("%s %u", cases[i].before, more);
            EXPECT_TEXT(wrong(&mem, spec.p), more ? cases[i].text : "");
        }
}

TEST(queue, root_is_nobodys_name)
{
    static const struct {
        const char *name, *text;
    } cases[] = {
        {"root", "metadata.name: \"root\" is what the top of the tree is called"},
        {"a_b", "metadata.name: \"a_b\" is not a name"},
        {"default", ""},
        {"team-b.example.com", ""},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        struct error e = {0};
        struct queue_object q = {.meta.name = str_of(cases[i].name)};
        EXPECT_INT(queue_check(&q, &e), !*cases[i].text);
        EXPECT_TEXT(e.text, cases[i].text);
    }
}

TEST(queue, that_makes_no_sense_is_there_and_says_so)
{
    AUTO(arena) mem = {0};
    struct object o;
    const struct envelope v = {ENCODING_JSON, STR("scheduling.kubenexus.io/v1alpha1"), STR("Queue"),
                               quoted(&mem, HEAD ",'spec':{'weight':[]}}")};
    REQUIRE(gist_read(&v, STR("spec.weight: [] is not a 64-bit integer"), &mem, &o));
    EXPECT_INT(o.kind, KIND_QUEUE);
    EXPECT_STR(o.queue->meta.name, "research");
    EXPECT_STR(o.queue->invalid, "spec.weight: [] is not a 64-bit integer");
}

TEST(queue, the_amounts_of_an_annotation_keep_the_rules_of_a_map)
{
    AUTO(arena) mem = {0};
    AUTO(buf) many = {0};
    amount_list out;
    struct error e;
    for (uint32_t i = 0; i < QUEUE_KEYS_MOST + 1; i++)
        buf_printf(&many, "%c\"x.io/r%u\":\"1\"", i ? ',' : '{', i);
    buf_add_char(&many, '}');
    EXPECT(queue_read_amounts(STR("{\"cpu@a=b\":\"1\",\"vram\":\"2Gi\"}"), &mem, &out, &e));
    EXPECT_INT(out.n, 2);
    EXPECT(!queue_read_amounts(STR("{\"cpu\":\"1\",\"no resource\":\"1\"}"), &mem, &out, &e));
    EXPECT(!queue_read_amounts(STR("{\"cpu\":\"-1\"}"), &mem, &out, &e));
    EXPECT(!queue_read_amounts(buf_str(&many), &mem, &out, &e));
}

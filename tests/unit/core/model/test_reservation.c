#include "core/model/reservation.h"

#include "core/model/object.h"
#include "core/wire/json_read.h"
#include "support/test.h"

struct sample {
    struct arena mem;
    struct reservation r;
};

static void sample_done(struct sample *s)
{
    arena_done(&s->mem);
}

/* Single quotes stand for double ones. False: it is not read, for the reason `e`. */
static bool read_sample(struct sample *s, const char *json, struct error *e)
{
    size_t where;
    struct str text = str_of(json);
    char *copy = arena_copy(&s->mem, text.p, text.n);
    for (size_t i = 0; i < text.n; i++)
        copy[i] = copy[i] == '\'' ? '"' : copy[i];
    const struct kind_info *info = kind_info_get(KIND_RESERVATION);
    return json_read((struct str){copy, text.n}, info->fields, &s->r, &s->mem, &where, e);
}

TEST(reservation, is_for_the_group_it_names_or_is_labelled_with)
{
    static const struct {
        const char *json, *group;
    } cases[] = {
        {"{'spec':{'podGroupName':'etl'}}", "etl"},
        {"{'metadata':{'labels':{'pod-group':'etl'}}}", "etl"},
        {"{'metadata':{'labels':{'pod-group':'x'}},'spec':{'podGroupName':'etl'}}", "etl"},
        {"{'metadata':{'labels':{'app':'etl'}}}", ""},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(sample) s = {0};
        struct error e = {0};
        REQUIRE(read_sample(&s, cases[i].json, &e));
        EXPECT_STR(reservation_group(&s.r), cases[i].group);
    }
}

TEST(reservation, holds_for_its_duration_or_half_an_hour)
{
    static const struct {
        const char *json;
        int64_t ms;
    } cases[] = {
        {"{}", 1800000},
        {"{'spec':{'duration':'10m'}}", 600000},
        {"{'spec':{'duration':'-1s'}}", 1800000},
        {"{'spec':{'duration':'0'}}", 1800000},
        {"{'spec':{'duration':'long'}}", 1800000},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(sample) s = {0};
        struct error e = {0};
        REQUIRE(read_sample(&s, cases[i].json, &e));
        EXPECT_INT(reservation_hold_ms(&s.r), cases[i].ms);
    }
}

/* "name@node cpu=1500 memory=…": amounts in thousandths. */
static const char *print(const struct sample *s, struct buf *out)
{
    struct arena mem = {0};
    reserved_list all = reservation_read(&s->r, &mem);
    buf_clear(out);
    list_each(&all, one) {
        buf_printf(out, "%s" STR_FMT "@" STR_FMT, out->n ? "; " : "", STR_ARG(one->name),
                   STR_ARG(one->node));
        list_each(&one->amounts, a)
            buf_printf(out, " " STR_FMT "=%lld", STR_ARG(a->name),
                       (long long)quantity_milli(a->quantity));
    }
    arena_done(&mem);
    return buf_str(out).p;
}

TEST(reservation, is_read_in_both_shapes)
{
    static const struct {
        const char *json, *holds;
    } cases[] = {
        {"{'spec':{'reservations':{'b':{'node':'n','cpu':'4','memory':'1Ki','gpu':'2'},"
         "'a':{'node':'','cpu':1.5}}}}",
         "a@ cpu=1500; b@n cpu=4000 memory=1024000 nvidia.com/gpu=2000"},
        {"{'spec':{'podGroupName':'g','resources':{'cpu':'1','example.com/x':'3'}}}",
         "@ cpu=1000 example.com/x=3000"},
        {"{'spec':{'reservations':{'a':{'node':'n','nvidia.com/gpu':'1'}}}}",
         "a@n nvidia.com/gpu=1000"},
        {"{'spec':{'reservations':{'a':{'cpu':'1','resources':{'cpu':'2','memory':'1'}}}}}",
         "a@ cpu=2000 memory=1000"},
        {"{'spec':{'reservations':{'a':{'node':'n','cpu':'0'},'b':{}}}}", ""},
    };
    AUTO(buf) out = {0};
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(sample) s = {0};
        struct error e = {0};
        REQUIRE(read_sample(&s, cases[i].json, &e));
        EXPECT_TEXT(print(&s, &out), cases[i].holds);
    }
}

TEST(reservation, with_an_amount_that_is_none_is_not_read)
{
    AUTO(sample) s = {0};
    struct error e = {0};
    EXPECT(!read_sample(&s, "{'spec':{'reservations':{'a':{'cpu':'much'}}}}", &e));
    EXPECT_TEXT(e.text, "spec.reservations.a.cpu: \"much\" is not a quantity");
}

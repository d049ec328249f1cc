#include "core/model/taint.h"

bool taint_number(struct str s, int64_t *out)
{
    struct str digits = s.n && s.p[0] == '-' ? str_part(s, 1, s.n) : s;
    if (digits.n == 0 || digits.p[0] == '+' || digits.p[0] == '-')
        return false;
    if (digits.p[0] == '0' && s.n > 1)
        return false;
    return str_int(s, out);
}

bool toleration_covers(const struct toleration *t, const struct taint *taint, bool comparison_gate)
{
    if (t->effect.n && !str_equal(t->effect, taint->effect))
        return false;
    if (t->key.n && !str_equal(t->key, taint->key))
        return false;
    if (t->op.n == 0 || str_equal(t->op, STR("Equal")))
        return str_equal(t->value, taint->value);
    if (str_equal(t->op, STR("Exists")))
        return true;
    int64_t theirs, mine;
    if (!comparison_gate || !taint_number(t->value, &mine) || !taint_number(taint->value, &theirs))
        return false;
    if (str_equal(t->op, STR("Lt")))
        return theirs < mine;
    return str_equal(t->op, STR("Gt")) && theirs > mine;
}

#include "kube/known.h"

static struct str full_name(struct known *k, struct str namespace, struct str name)
{
    buf_clear(&k->text);
    buf_add(&k->text, namespace);
    buf_add_char(&k->text, '/');
    buf_add(&k->text, name);
    return buf_str(&k->text);
}

static void forget(struct known *k, uint32_t id)
{
    intern_drop(&k->names, id);
    if (intern_wants_sweep(&k->names))
        intern_sweep(&k->names, NULL, NULL);
}

void known_begin(struct known *k)
{
    k->rounds++;
}

void known_add(struct known *k, struct str namespace, struct str name)
{
    uint32_t id = intern_get(&k->names, full_name(k, namespace, name), NULL);
    if (id >= k->round.n)
        vec_resize(&k->round, id + 1);
    if (k->names.entries.at[id].holds == 0)
        intern_hold(&k->names, id);
    k->round.at[id] = k->rounds;
}

void known_remove(struct known *k, struct str namespace, struct str name)
{
    uint32_t id = intern_find(&k->names, full_name(k, namespace, name));
    if (id != INTERN_NONE && k->names.entries.at[id].holds)
        forget(k, id);
}

bool known_take_missing(struct known *k, uint32_t *from, struct str *namespace, struct str *name)
{
    for (uint32_t id = *from; id < k->names.entries.n; id++) {
        const struct intern_entry *entry = &k->names.entries.at[id];
        if (!entry->p || !entry->holds || k->round.at[id] == k->rounds)
            continue;
        buf_clear(&k->text);
        buf_add(&k->text, intern_bytes(&k->names, id));
        size_t slash = str_find(buf_str(&k->text), '/');
        *namespace = str_part(buf_str(&k->text), 0, slash);
        *name = str_part(buf_str(&k->text), slash + 1, k->text.n);
        *from = id + 1;
        forget(k, id);
        return true;
    }
    return false;
}

void known_trim(struct known *k)
{
    intern_sweep(&k->names, NULL, NULL);
    intern_trim(&k->names);
    k->round.n = MIN(k->round.n, k->names.entries.n);
    vec_trim(&k->round);
}

uint32_t known_count(const struct known *k)
{
    return k->names.held;
}

void known_done(struct known *k)
{
    intern_done(&k->names);
    vec_done(&k->round);
    buf_done(&k->text);
}

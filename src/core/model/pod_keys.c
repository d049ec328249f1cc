#include "core/model/pod_keys.h"

const struct pod_key pod_keys[] = {
#define KEY(text, places, meaning) {STR(text), places, MEANS_##meaning},
#include "core/model/pod_keys.def"
#undef KEY
};

const uint32_t n_pod_keys = LEN(pod_keys);

/* Most labels are none of ours. A length and a last letter tell nearly all of them apart from all
 * our keys, without comparing text. */
static uint32_t find(struct str key, uint32_t place)
{
    for (uint32_t i = 0; i < LEN(pod_keys); i++) {
        const struct pod_key *k = &pod_keys[i];
        if (k->text.n == key.n && k->text.p[key.n - 1] == key.p[key.n - 1] && k->places & place &&
            memcmp(k->text.p, key.p, key.n) == 0)
            return i;
    }
    return LEN(pod_keys);
}

static void read(const pair_list *pairs, uint32_t place, struct pod_said *out)
{
    list_each(pairs, pair) {
        uint32_t key = pair->key.n ? find(pair->key, place) : LEN(pod_keys);
        if (key == LEN(pod_keys))
            continue;
        struct said *said = &out->by[pod_keys[key].meaning];
        if (key < said->key)
            *said = (struct said){pair->value, key, place == IN_ANNOTATION};
    }
}

void pod_said_read(const struct pod *pod, struct pod_said *out)
{
    for (uint32_t i = 0; i < N_MEANINGS; i++)
        out->by[i] = (struct said){.key = LEN(pod_keys)};
    read(&pod->meta.labels, IN_LABEL, out);
    read(&pod->meta.annotations, IN_ANNOTATION, out);
}

void misread_add(struct misreads *to, const struct said *said)
{
    vec_push(to, (struct misread){pod_keys[said->key].text, said->value, {0}});
}

/* --- values --- */

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool same_word(struct str a, struct str b)
{
    if (a.n != b.n)
        return false;
    for (size_t i = 0; i < a.n; i++)
        if (lower(a.p[i]) != lower(b.p[i]))
            return false;
    return true;
}

uint32_t word_find(struct str word, const struct str *words, uint32_t n)
{
    uint32_t i = 0;
    while (i < n && !same_word(word, words[i]))
        i++;
    return i;
}

static bool is_cut(char c)
{
    return c == '-' || c == '.' || c == '_' || c == '/' || c == ':' || c == ' ';
}

bool text_has_word(struct str text, struct str word)
{
    for (size_t at = 0; at + word.n <= text.n; at++) {
        bool begins = at == 0 || is_cut(text.p[at - 1]);
        bool ends = at + word.n == text.n || is_cut(text.p[at + word.n]);
        if (begins && ends && same_word(str_part(text, at, at + word.n), word))
            return word.n > 0;
    }
    return false;
}

bool text_bool(struct str text, bool *out)
{
    static const struct str words[] = {STR("false"), STR("true")};
    uint32_t word = word_find(text, words, LEN(words));
    if (word == LEN(words))
        return false;
    *out = word;
    return true;
}

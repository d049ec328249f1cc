#include "core/model/pod_keys.h"

const struct pod_key pod_keys[] = {
#define KEY(text, places, meaning) {STR(text), places, MEANS_##meaning},
#include "core/model/pod_keys.def"
#undef KEY
};

const uint32_t n_pod_keys = LEN(pod_keys);

/* clang-format off */

/* Most labels are none of ours: their lengths, compared with constants, tell nearly all of them
 * apart from all our keys. */
static uint32_t find(struct str key, uint32_t place)
{
    uint32_t i = 0;
#define KEY(text, places, meaning)                                                                 \
    if (key.n == sizeof(text) - 1 && (places) & place && memcmp(key.p, text, key.n) == 0)          \
        return i;                                                                                  \
    i++;
#include "core/model/pod_keys.def"
#undef KEY
    return i;
}

/* clang-format on */

static void read(const pair_list *pairs, uint32_t place, struct pod_said *out)
{
    list_each(pairs, pair) {
        uint32_t key = find(pair->key, place);
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
    return c <= '_' && (c == '-' || c == '.' || c == '_' || c == '/' || c == ':' || c == ' ');
}

/* Does the word stand at the head of the text, and end there? */
static bool begins_with(struct str text, struct str word)
{
    bool may = text.n >= word.n && word.n && ((text.p[0] ^ word.p[0]) & ~('a' ^ 'A')) == 0;
    return may && (text.n == word.n || is_cut(text.p[word.n])) &&
           same_word(str_part(text, 0, word.n), word);
}

uint32_t text_find_word(struct str text, const struct str *words, uint32_t n)
{
    uint32_t found = n;
    for (struct str rest = text; rest.n; rest.p++, rest.n--) {
        if (rest.n < text.n && LIKELY(!is_cut(rest.p[-1])))
            continue;
        for (uint32_t i = 0; i < found; i++)
            if (begins_with(rest, words[i]))
                found = i;
    }
    return found;
}

bool text_has_word(struct str text, struct str word)
{
    for (struct str rest = text; rest.n; rest.p++, rest.n--)
        if (UNLIKELY(begins_with(rest, word)) && (rest.n == text.n || is_cut(rest.p[-1])))
            return true;
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

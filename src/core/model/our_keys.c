#include "core/model/our_keys.h"

#include "core/base/buf.h"

/* clang-format off */

const struct our_key our_keys[] = {
#define KEY(text, on)          {STR(text), on},
#define KEY_NUMBERED(text, on) {STR(text), on},
#include "core/model/our_keys.def"
#undef KEY
#undef KEY_NUMBERED
};

/* clang-format on */

const uint32_t n_our_keys = LEN(our_keys);

/* The domain of a key: what stands before the slash; empty if there is none. */
static struct str domain_of(struct str key)
{
    size_t slash = str_find(key, '/');
    return str_part(key, 0, slash < key.n ? slash : 0);
}

bool our_key_is(struct str key)
{
    static const char own[] = "kubenexus.io";
    enum { OWN = sizeof(own) - 1 };
    const char *slash = key.n > OWN ? memchr(key.p, '/', key.n) : NULL;
    struct str domain = {key.p, slash ? (size_t)(slash - key.p) : 0};
    if (domain.n >= OWN && memcmp(slash - OWN, own, OWN) == 0)
        return domain.n == OWN || slash[-OWN - 1] == '.';
    return str_equal(domain, STR("pod-group.scheduling.sigs.k8s.io")) ||
           str_equal(domain, STR("pod-group.scheduling.x-k8s.io"));
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Is the text as the pattern has it, a number for each #? */
static bool matches(struct str pattern, struct str text)
{
    size_t at = 0;
    for (size_t i = 0; i < pattern.n; i++) {
        size_t begin = at;
        if (pattern.p[i] != '#') {
            if (at == text.n || text.p[at++] != pattern.p[i])
                return false;
            continue;
        }
        while (at < text.n && is_digit(text.p[at]))
            at++;
        if (at == begin)
            return false;
    }
    return at == text.n;
}

/* clang-format off */

/* On what the key is read; 0: nowhere. Every pod's and node's keys are looked up here, so this is
 * made of comparisons with constants, whose lengths differ mostly. */
static uint32_t where_read(struct str key)
{
#define KEY(text, on)                                                                              \
    if (key.n == sizeof(text) - 1 && memcmp(key.p, text, sizeof(text) - 1) == 0)                   \
        return on;
#define KEY_NUMBERED(text, on)                                                                     \
    if (key.n >= sizeof(text) - 1 && memcmp(key.p, text, strcspn(text, "#")) == 0 &&               \
        matches(str_of(strchr(text, '#')), str_part(key, strcspn(text, "#"), key.n)))              \
        return on;
#include "core/model/our_keys.def"
#undef KEY
#undef KEY_NUMBERED
    return 0;
}

/* clang-format on */

bool our_key_is_unknown(struct str key, uint32_t on)
{
    return our_key_is(key) && !(where_read(key) & on);
}

/* --- the nearest --- */

enum { KEY_MOST = 317 }; /* bytes that the API server takes: a domain, a slash, a name */

/* How many letters must be put in, left out or changed to make one of the other. */
static uint32_t distance(struct str a, struct str b)
{
    uint32_t row[KEY_MOST + 1];
    a.n = MIN(a.n, (size_t)KEY_MOST);
    for (uint32_t i = 0; i <= a.n; i++)
        row[i] = i;
    for (uint32_t j = 1; j <= b.n; j++) {
        uint32_t corner = row[0];
        row[0] = j;
        for (uint32_t i = 1; i <= a.n; i++) {
            uint32_t changed = corner + (a.p[i - 1] != b.p[j - 1]);
            corner = row[i];
            uint32_t moved = MIN(row[i], row[i - 1]) + 1;
            row[i] = MIN(changed, moved);
        }
    }
    return row[a.n];
}

static struct str name_of(struct str key)
{
    size_t slash = str_find(key, '/');
    return str_part(key, slash < key.n ? slash + 1 : 0, key.n);
}

/* A name under a wrong domain is likelier than another name under the right one. */
static uint32_t unlikeness(struct str key, struct str known)
{
    return 2 * distance(name_of(key), name_of(known)) + distance(domain_of(key), domain_of(known));
}

struct str our_key_nearest(struct str key, uint32_t on)
{
    struct str nearest = {0};
    uint32_t least = UINT32_MAX;
    for (uint32_t i = 0; i < n_our_keys; i++) {
        if (!(our_keys[i].on & on))
            continue;
        uint32_t unlike = unlikeness(key, our_keys[i].text);
        if (unlike < least) {
            least = unlike;
            nearest = our_keys[i].text;
        }
    }
    return nearest;
}

/* --- telling --- */

static bool has(const struct misreads *list, struct str key)
{
    vec_each(list, m)
        if (str_equal(m->key, key))
            return true;
    return false;
}

/* The first few say enough, and each is compared with all that we know. */
void our_keys_check(const pair_list *pairs, uint32_t on, struct misreads *to)
{
    enum { TOLD_MOST = 8 };
    uint32_t told = 0;
    list_each(pairs, pair) {
        if (LIKELY(!our_key_is_unknown(pair->key, on)) || has(to, pair->key))
            continue;
        vec_push(to, (struct misread){.key = pair->key});
        if (++told == TOLD_MOST)
            return;
    }
}

void misread_say(struct str key, struct str value, uint32_t on, struct buf *out)
{
    if (our_key_is_unknown(key, on)) {
        struct str nearest = our_key_nearest(key, on);
        buf_printf(out, STR_FMT " is not a key that we know; the nearest is " STR_FMT,
                   STR_ARG(str_part(key, 0, KEY_MOST)), STR_ARG(nearest));
        return;
    }
    buf_printf(out, STR_FMT ": \"" STR_FMT "\" means nothing", STR_ARG(key),
               STR_ARG(str_part(value, 0, 100)));
}

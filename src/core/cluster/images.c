#include "core/cluster/images.h"

enum { BITS = 64, FEW = 32, SHARE = 32 }; /* FEW nodes are few, and so is less than 1/SHARE */

static void set_bit(struct image *image, uint32_t node)
{
    if (node / BITS >= image->words.n)
        vec_resize(&image->words, node / BITS + 1);
    image->words.at[node / BITS] |= (uint64_t)1 << node % BITS;
}

static void spread(struct image *image, uint32_t nodes)
{
    vec_reserve(&image->words, (nodes + BITS - 1) / BITS);
    vec_each(&image->few, node)
        set_bit(image, *node);
    vec_done(&image->few);
}

static void gather(struct image *image)
{
    for (uint32_t i = 0; i < image->words.n; i++)
        for (uint64_t bits = image->words.at[i]; bits; bits &= bits - 1)
            vec_push(&image->few, i * BITS + (uint32_t)__builtin_ctzll(bits));
    vec_done(&image->words);
}

static struct image *find(const struct images *all, sym name)
{
    uint32_t at = map_find(&all->index, name);
    return at == MAP_NONE ? NULL : &all->at.at[at];
}

static struct image *make(struct images *all, struct names *names, sym name, int64_t size_bytes)
{
    uint32_t at = all->free.n ? vec_pop(&all->free) : all->at.n;
    if (at == all->at.n)
        vec_push(&all->at, (struct image){0});
    all->at.at[at] = (struct image){.state.size_bytes = size_bytes};
    map_put(&all->index, name, at);
    intern_hold(&names->text, name);
    return &all->at.at[at];
}

static void forget(struct images *all, struct names *names, sym name)
{
    uint32_t at = map_remove(&all->index, name);
    vec_done(&all->at.at[at].few);
    vec_done(&all->at.at[at].words);
    intern_drop(&names->text, name);
    vec_push(&all->free, at);
}

void images_add(struct images *all, struct names *names, sym name, int64_t size_bytes,
                uint32_t node, uint32_t nodes)
{
    struct image *image = find(all, name);
    if (!image)
        image = make(all, names, name, size_bytes);
    image->state.nodes++;
    if (!image->words.n && image->few.n >= MAX((uint32_t)FEW, nodes / SHARE))
        spread(image, nodes);
    if (image->words.n)
        set_bit(image, node);
    else
        vec_push(&image->few, node);
}

static void remove_few(struct image *image, uint32_t node)
{
    uint32_t i = 0;
    while (image->few.at[i] != node)
        i++;
    image->few.at[i] = vec_pop(&image->few);
}

void images_remove(struct images *all, struct names *names, sym name, uint32_t node)
{
    struct image *image = find(all, name);
    if (--image->state.nodes == 0) {
        forget(all, names, name);
    } else if (image->words.n) {
        image->words.at[node / BITS] &= ~((uint64_t)1 << node % BITS);
        if (image->state.nodes < MAX((uint32_t)FEW / 2, image->words.n * BITS / (4 * SHARE)))
            gather(image);
    } else {
        remove_few(image, node);
    }
}

bool images_resize(struct images *all, sym name, int64_t size_bytes)
{
    struct image_state *state = &find(all, name)->state;
    if (state->nodes > 1 || state->size_bytes == size_bytes)
        return false;
    state->size_bytes = size_bytes;
    return true;
}

struct image_state images_state(const struct images *all, sym name)
{
    const struct image *image = find(all, name);
    return image ? image->state : (struct image_state){0};
}

void images_mark(const struct images *all, sym name, uint64_t *bits)
{
    const struct image *image = find(all, name);
    if (!image)
        return;
    for (uint32_t i = 0; i < image->words.n; i++)
        bits[i] |= image->words.at[i];
    vec_each(&image->few, node)
        bits[*node / BITS] |= (uint64_t)1 << *node % BITS;
}

void images_done(struct images *all)
{
    vec_each(&all->at, image) {
        vec_done(&image->few);
        vec_done(&image->words);
    }
    vec_done(&all->at);
    vec_done(&all->free);
    map_done(&all->index);
}

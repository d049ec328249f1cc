#pragma once

#include "core/base/base.h"
#include "core/base/mem.h"

/* A growing array of any type: `VEC(int) v = {0}; vec_push(&v, 7);`. {0} is empty. Elements are
 * v.at[0] … v.at[v.n - 1]; they move when the array grows, so keep indices, not pointers.
 *
 * VEC makes an unnamed type; where two functions must agree on it, name it:
 * VEC_TYPE(ids, uint32_t). */

#define VEC(type)                                                                                  \
    struct {                                                                                       \
        type *at;                                                                                  \
        uint32_t n, cap;                                                                           \
    }
#define VEC_TYPE(tag, type)                                                                        \
    struct tag {                                                                                   \
        type *at;                                                                                  \
        uint32_t n, cap;                                                                           \
    }

/* Room for at least `need` elements in all. */
#define vec_reserve(v, need)                                                                       \
    ((v)->cap < (need) ? (void)((v)->at = vec_grown((v)->at, &(v)->cap, (need), sizeof(*(v)->at))) \
                       : (void)0)

#define vec_push(v, ...)                                                                           \
    do {                                                                                           \
        vec_reserve((v), (v)->n + 1);                                                              \
        (v)->at[(v)->n++] = (__VA_ARGS__);                                                         \
    } while (0)

/* `n` elements in all; those that are new are zeroed. */
#define vec_resize(v, count)                                                                       \
    do {                                                                                           \
        uint32_t vec_n_ = (count);                                                                 \
        vec_reserve((v), vec_n_);                                                                  \
        if (vec_n_ > (v)->n)                                                                       \
            memset((v)->at + (v)->n, 0, (size_t)(vec_n_ - (v)->n) * sizeof(*(v)->at));             \
        (v)->n = vec_n_;                                                                           \
    } while (0)

/* The last element, taken off. */
#define vec_pop(v) ((v)->at[--(v)->n])

#define vec_last(v) ((v)->at[(v)->n - 1])

/* Takes element `i` out; the order of the others stays. */
#define vec_remove(v, i)                                                                           \
    do {                                                                                           \
        uint32_t vec_i_ = (i);                                                                     \
        memmove((v)->at + vec_i_, (v)->at + vec_i_ + 1,                                            \
                (size_t)((v)->n - vec_i_ - 1) * sizeof(*(v)->at));                                 \
        (v)->n--;                                                                                  \
    } while (0)

/* Takes the first `count` elements out. */
#define vec_shift(v, count)                                                                        \
    do {                                                                                           \
        uint32_t vec_n_ = (count);                                                                 \
        (v)->n -= vec_n_;                                                                          \
        if ((v)->n)                                                                                \
            memmove((v)->at, (v)->at + vec_n_, (size_t)(v)->n * sizeof(*(v)->at));                 \
    } while (0)

/* Puts a value in front of element `i`. */
#define vec_insert(v, i, ...)                                                                      \
    do {                                                                                           \
        uint32_t vec_i_ = (i);                                                                     \
        vec_reserve((v), (v)->n + 1);                                                              \
        memmove((v)->at + vec_i_ + 1, (v)->at + vec_i_,                                            \
                (size_t)((v)->n - vec_i_) * sizeof(*(v)->at));                                     \
        (v)->at[vec_i_] = (__VA_ARGS__);                                                           \
        (v)->n++;                                                                                  \
    } while (0)

#define vec_clear(v) ((void)((v)->n = 0))

/* Gives the memory back; the vector is empty and usable again. */
#define vec_done(v) (mem_free((v)->at), (v)->at = NULL, (v)->n = (v)->cap = 0)

/* Gives back the room that no element needs. */
#define vec_trim(v)                                                                                \
    ((v)->n == 0                                                                                   \
         ? vec_done(v)                                                                             \
         : ((v)->at = mem_resize((v)->at, (size_t)(v)->n * sizeof(*(v)->at)), (v)->cap = (v)->n))

/* Arithmetic on NULL is undefined, so an empty vector ends at NULL. */
#define vec_each(v, it)                                                                            \
    for (__typeof__((v)->at + 0) it = (v)->at, vec_end_##it = (v)->n ? (v)->at + (v)->n : NULL;    \
         it < vec_end_##it; it++)

/* The array with room for `need` elements or more; doubles, so that pushing stays cheap. */
static inline void *vec_grown(void *at, uint32_t *cap, uint32_t need, size_t size)
{
    uint32_t room = *cap ? *cap : 4;
    while (room < need) {
        assert(room < UINT32_MAX / 2);
        room *= 2;
    }
    *cap = room;
    return mem_resize(at, (size_t)room * size);
}

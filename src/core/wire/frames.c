/* Between calls: `held` is not empty only if the piece is, and head_n < 4 only then, too, if the
 * encoding is protobuf. */

#include "core/wire/frames.h"

enum { HEAD_BYTES = 4 };

/* The first `n` bytes of the piece, taken off. */
static struct str take(struct frames *f, size_t n)
{
    struct str part = str_part(f->piece, 0, n);
    f->piece = str_part(f->piece, n, f->piece.n);
    return part;
}

static bool refuse(const struct frames *f, struct error *e)
{
    return error_set(e, ERROR_INVALID, "a message of the stream is longer than %zu bytes",
                     f->frame_most);
}

/* The frame goes on with the first `n` bytes of the piece; `is_end`: and ends with them. */
static bool go_on(struct frames *f, size_t n, bool is_end, struct str *frame, struct error *e)
{
    if (n > f->frame_most - f->held.n)
        return refuse(f, e);
    struct str part = take(f, n);
    if (is_end && f->held.n == 0) {
        *frame = part;
        return true;
    }
    buf_add(&f->held, part);
    f->is_used = is_end;
    *frame = buf_str(&f->held);
    return is_end;
}

static bool next_line(struct frames *f, struct str *frame, struct error *e)
{
    size_t n = str_find(f->piece, '\n');
    bool is_end = n < f->piece.n;
    if (!go_on(f, n, is_end, frame, e))
        return false;
    take(f, 1);
    return true;
}

static bool next_sized(struct frames *f, struct str *frame, struct error *e)
{
    for (; f->head_n < HEAD_BYTES && f->piece.n; f->head_n++)
        f->head[f->head_n] = (uint8_t)take(f, 1).p[0];
    if (f->head_n < HEAD_BYTES)
        return false;
    size_t size = (size_t)f->head[0] << 24 | (size_t)f->head[1] << 16 | (size_t)f->head[2] << 8 |
                  (size_t)f->head[3];
    if (size > f->frame_most)
        return refuse(f, e);
    size_t missing = size - f->held.n;
    bool is_end = f->piece.n >= missing;
    if (!go_on(f, is_end ? missing : f->piece.n, is_end, frame, e))
        return false;
    f->head_n = 0;
    return true;
}

void frames_put(struct frames *f, struct str piece)
{
    assert(f->piece.n == 0 && f->frame_most > 0);
    f->piece = piece;
}

bool frames_next(struct frames *f, struct str *frame, struct error *e)
{
    *e = (struct error){0};
    if (f->is_used) {
        buf_clear(&f->held);
        f->is_used = false;
    }
    return f->encoding == ENCODING_PROTO ? next_sized(f, frame, e) : next_line(f, frame, e);
}

void frames_trim(struct frames *f)
{
    if (!f->is_used && f->held.n)
        return;
    f->is_used = false;
    buf_done(&f->held);
}

void frames_done(struct frames *f)
{
    buf_done(&f->held);
    *f = (struct frames){0};
}

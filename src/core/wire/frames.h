#pragma once

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/wire/encoding.h"

/* The messages of a stream, cut out of the pieces in which it arrives. In protobuf, four bytes give
 * the length of each, most significant first; in JSON, each is a line.
 *
 *     frames_put(&f, piece);
 *     while (frames_next(&f, &frame, &e))
 *         use(frame);
 *     if (e.kind != ERROR_NONE)
 *         the stream is broken
 */
struct frames {
    enum encoding encoding;
    size_t frame_most; /* bytes; > 0 */
    struct str piece;  /* what nobody has looked at yet */
    struct buf held;   /* a frame that has begun in an earlier piece, its length left out */
    uint8_t head[4];   /* its length, as far as it has come */
    uint8_t head_n;
    bool is_used; /* `held` was the last frame given out */
};

/* The next piece of the stream. All frames of the one before must have been taken. */
void frames_put(struct frames *f, struct str piece);

/* The next whole frame, valid until the next call with `f`: a part of the piece where that is
 * possible. False with kind ERROR_NONE: the next one has not come yet as a whole. Only the bytes
 * that have come are held, whatever the frame's length says. After any other kind the stream is of
 * no use: frames_done() is all that is left. */
bool frames_next(struct frames *f, struct str *frame, struct error *e) MUST_USE;

/* Gives back the room that no part of a frame needs. */
void frames_trim(struct frames *f);
void frames_done(struct frames *f);

#include "core/base/base64.h"

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_add(struct buf *out, struct str bytes)
{
    for (size_t i = 0; i < bytes.n; i += 3) {
        size_t left = bytes.n - i;
        uint32_t group = (uint32_t)(unsigned char)bytes.p[i] << 16;
        if (left > 1)
            group |= (uint32_t)(unsigned char)bytes.p[i + 1] << 8;
        if (left > 2)
            group |= (unsigned char)bytes.p[i + 2];
        buf_add_char(out, alphabet[group >> 18]);
        buf_add_char(out, alphabet[group >> 12 & 63]);
        buf_add_char(out, left > 1 ? alphabet[group >> 6 & 63] : '=');
        buf_add_char(out, left > 2 ? alphabet[group & 63] : '=');
    }
}

/* Four characters, of which the last `padding` are '='; bits that stand for nothing are ignored, as
 * Go does. */
static void add_group(struct buf *out, uint32_t group, unsigned padding)
{
    buf_add_char(out, (char)(group >> 16));
    if (padding < 2)
        buf_add_char(out, (char)(group >> 8));
    if (padding < 1)
        buf_add_char(out, (char)group);
}

bool base64_decode(struct buf *out, struct str text)
{
    size_t before = out->n;
    uint32_t group = 0;
    unsigned count = 0, padding = 0; /* of the group */
    bool is_fine = true;
    for (size_t i = 0; i < text.n && is_fine; i++) {
        char c = text.p[i];
        const char *at = memchr(alphabet, c, sizeof(alphabet) - 1);
        if (c == '\n' || c == '\r')
            continue;
        if (count == 4 && padding == 0)
            count = 0;
        is_fine = count < 4 && (at ? padding == 0 : c == '=' && count >= 2);
        padding += c == '=';
        group = group << 6 | (at ? (uint32_t)(at - alphabet) : 0);
        if (++count == 4 && is_fine)
            add_group(out, group, padding);
    }
    if (is_fine && (count == 0 || count == 4))
        return true;
    out->n = before;
    return false;
}

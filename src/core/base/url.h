#pragma once

#include "core/base/arena.h"
#include "core/base/str.h"

/* The parts of an http or https URL. */
struct url {
    bool is_tls;
    struct str user; /* name:password, percent signs resolved; may be empty */
    struct str host; /* without the brackets of an IPv6 address */
    uint16_t port;   /* 443 or 80 if the URL does not say */
    struct str path; /* without a slash at its end; may be empty */
};

/* What is wrong with the text; NULL if nothing is. Parts are pieces of it, or live in `mem`. */
const char *url_parse(struct str text, struct arena *mem, struct url *out) MUST_USE;

/* What may be shown of a text that should be a URL: without user and password. */
struct str url_shown(struct str text);

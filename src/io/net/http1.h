#pragma once

#include "core/base/str.h"

/* The head of an HTTP/1.1 request, as a server reads it. Nothing is copied: texts are pieces of the
 * head. What could be read in two ways is refused, so that nobody in front of us can have read it
 * differently. */

enum { HTTP1_HEAD_MOST = 16384, HTTP1_HEADERS_MOST = 64 };

struct http1_header {
    struct str name, value;
};

struct http1_request {
    struct str method;
    struct str path;  /* as it was sent: nothing is decoded */
    struct str query; /* behind the question mark; empty: none */
    struct http1_header headers[HTTP1_HEADERS_MOST];
    uint32_t n_headers;
    bool keeps_alive; /* the connection serves another request after this */
    bool has_body;
};

/* Where the head ends that `bytes` begin with, its last line included; 0: not in here. The first
 * `seen` bytes were looked at before. */
size_t http1_head_end(struct str bytes, size_t seen);

/* 0, or the status to refuse the head with. */
int http1_read(struct str head, struct http1_request *out);

/* The value of the first header of this name, given in lower case; empty if there is none. */
struct str http1_header(const struct http1_request *r, struct str name);

/* Is `name`, alone or with a value, in the query? Walks `*at` (begin with 0) over its values. */
bool http1_query(const struct http1_request *r, struct str name, size_t *at, struct str *value);

/* What heads of both directions are made of. A line without its end, cut off `rest`; NULL text: it
 * does not end as it must. */
struct str http1_cut_line(struct str *rest);

/* "Name: value", checked; 0, or the status to refuse it with. */
int http1_read_header(struct str line, struct http1_header *out);

/* Is the text this one, given in lower case? */
bool http1_is(struct str text, struct str lower_case);

/* What a header `connection` says of the connection's end; else `otherwise`. */
bool http1_keeps_alive(struct str value, bool otherwise);

/* A `content-length`; false: it is none. */
bool http1_read_length(struct str value, int64_t *out);

/* "OK" for 200. */
const char *http1_reason(int status);

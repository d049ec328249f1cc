#pragma once

#include <sys/socket.h>

#include "core/base/error.h"
#include "core/base/str.h"
#include "io/loop/child.h"

/* Addresses of a host. The system's resolver blocks, and for seconds when its server is away, so a
 * copy of this process asks it: the loop never waits. */

enum { RESOLVE_MOST = 16 };

struct address {
    union {
        struct sockaddr any;
        struct sockaddr_storage room;
    };
    socklen_t n;
};

struct address_list {
    struct address at[RESOLVE_MOST];
    size_t n;
};

/* Is the host an address already? */
bool address_parse(struct str host, uint16_t port, struct address *out) MUST_USE;

/* Starts a child that prints the addresses; what it printed is for resolve_read(). The host must
 * not be longer than a name may be, 255 bytes. */
struct child *resolve_start(struct loop *l, struct str host, uint16_t port, int64_t timeout_ms,
                            child_fn *fn, void *ctx, struct error *e) MUST_USE;

/* At least one address, or why there is none. */
bool resolve_read(struct str output, struct address_list *out, struct error *e) MUST_USE;

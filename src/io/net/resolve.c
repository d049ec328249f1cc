#include "io/net/resolve.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <unistd.h>

#include "core/base/base.h"

enum { NAME_MOST = 255 };

struct question {
    char host[NAME_MOST + 1];
    uint16_t port;
};

bool address_parse(struct str host, uint16_t port, struct address *out)
{
    char text[INET6_ADDRSTRLEN + 1] = {0};
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(port)};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    if (host.n >= sizeof(text))
        return false;
    memcpy(text, host.p, host.n);
    if (inet_pton(AF_INET, text, &v4.sin_addr) == 1) {
        memcpy(&out->room, &v4, out->n = sizeof(v4));
        return true;
    }
    if (inet_pton(AF_INET6, text, &v6.sin6_addr) == 1) {
        memcpy(&out->room, &v6, out->n = sizeof(v6));
        return true;
    }
    return false;
}

/* In the child: struct addresses as they are, or one line. */
static void ask(const void *arg, int out)
{
    const struct question *q = arg;
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_ADDRCONFIG}, *found = NULL;
    char port[8];
    snprintf(port, sizeof(port), "%u", q->port);
    int rc = getaddrinfo(q->host, port, &hints, &found);
    if (rc)
        dprintf(out, "!%s", gai_strerror(rc));
    for (struct addrinfo *f = found; f; f = f->ai_next) {
        struct address a = {.n = f->ai_addrlen};
        memcpy(&a.room, f->ai_addr, f->ai_addrlen);
        if (write(out, &a, sizeof(a)) != sizeof(a))
            return;
    }
}

struct child *resolve_start(struct loop *l, struct str host, uint16_t port, int64_t timeout_ms,
                            child_fn *fn, void *ctx, struct error *e)
{
    struct question q = {.port = port};
    assert(host.n <= NAME_MOST);
    memcpy(q.host, host.p, host.n);
    struct child_spec spec = {
        .run = ask, .arg = &q, .output_most = 1 << 16, .timeout_ms = timeout_ms};
    return child_start(l, &spec, fn, ctx, e);
}

bool resolve_read(struct str output, struct address_list *out, struct error *e)
{
    if (output.n && output.p[0] == '!')
        return error_set(e, ERROR_BUSY, STR_FMT, STR_ARG(str_part(output, 1, output.n)));
    out->n = MIN(output.n / sizeof(struct address), (size_t)RESOLVE_MOST);
    if (out->n == 0)
        return error_set(e, ERROR_BUSY, "no address");
    memcpy(out->at, output.p, out->n * sizeof(struct address));
    return true;
}

#pragma once

#include "core/base/arena.h"
#include "core/base/error.h"
#include "core/base/str.h"

/* Where the API server is and who we are to it: the current context of a kubeconfig file, or the
 * service account of the pod we run in. Files that it names are read, too, relative to its own
 * folder. Errors are one line that names the file, the field and the value. */

struct kubeconfig_env {
    struct str name, value;
};

/* A program that prints who we are. */
struct kubeconfig_exec {
    struct str api_version;
    struct str command; /* empty: there is none */
    LIST(struct str) args;
    LIST(struct kubeconfig_env) env; /* besides ours */
    bool provide_cluster_info;
};

struct kubeconfig {
    struct arena mem; /* all texts live in it */

    struct str server; /* the URL */
    struct str host;   /* its parts */
    uint16_t port;
    struct str path_prefix; /* without a slash at its end */
    bool is_tls;
    struct str ca_pem; /* empty: the system's authorities */
    bool is_unverified;
    struct str server_name; /* whom the certificate must name; empty: the host */
    struct str proxy_url;
    struct str proxy_host; /* empty: there is none */
    uint16_t proxy_port;
    struct str proxy_authorization; /* the header's value; may be empty */

    struct str cert_pem, key_pem; /* may be empty */
    struct str token;             /* may be empty */
    struct kubeconfig_exec exec;

    LIST(struct str) files; /* all that were read, */
    uint64_t digest;        /* and of what was in them */
};

enum { KUBECONFIG_BYTES_MOST = 4 << 20 /* of each file */ };

/* Into the empty `k`, which stays empty on failure. */
bool kubeconfig_read(struct kubeconfig *k, const char *path, struct error *e) MUST_USE;

/* `folder` holds token and ca.crt; host and port come from the environment, and may be NULL. */
bool kubeconfig_read_service_account(struct kubeconfig *k, const char *folder, const char *host,
                                     const char *port, struct error *e) MUST_USE;

/* Another server instead of what the file says; of an empty `k`: one to which we are nobody. */
bool kubeconfig_set_server(struct kubeconfig *k, const char *url, struct error *e) MUST_USE;

void kubeconfig_done(struct kubeconfig *k);

/* Without space around it. A token goes into a header: what headers cannot hold is refused. */
bool kubeconfig_set_token(struct kubeconfig *k, struct str token, struct error *e) MUST_USE;

/* Is everything but the token the same? Then connections may stay. */
bool kubeconfig_is_same_place(const struct kubeconfig *a, const struct kubeconfig *b);

#pragma once

#include "core/base/buf.h"

/* Certificates made for one run of the tests. */

struct identity {
    struct buf cert_pem, key_pem;
};

struct certs {
    struct identity ca;
    struct identity other_ca; /* whom nobody here trusts */
    struct identity server;   /* names localhost, kubernetes and 127.0.0.1 */
    struct identity client;   /* of the name "somebody" */
};

/* Made once, never given back. */
const struct certs *certs_get(void);

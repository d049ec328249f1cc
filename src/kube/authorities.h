#pragma once

#include "kube/answer.h"
#include "kube/request.h"

/* Whose certificates show who a client is, as the API server tells all components: the key
 * client-ca-file of the ConfigMap kube-system/extension-apiserver-authentication. */

enum { AUTHORITIES_BYTES_MOST = 1 << 20, AUTHORITIES_TIMEOUT_MS = 10000 };

struct authorities {
    request_id last_id, current; /* current 0: none is under way */
    struct answer answer;
    struct arena mem;
};

void authorities_init(struct authorities *a, request_id first_id);
void authorities_done(struct authorities *a);

/* Asks, unless a question is under way. */
void authorities_ask(struct authorities *a, struct requests *out);

enum authorities_result {
    AUTHORITIES_NOTHING, /* not yet, or the reply is not ours */
    AUTHORITIES_FAILED,  /* as `trouble` says */
    AUTHORITIES_TOLD,    /* `pem`, which may be empty */
};

/* What comes out lives until the next call. */
enum authorities_result authorities_hear(struct authorities *a, const struct reply *reply,
                                         struct str *pem, struct trouble *trouble);

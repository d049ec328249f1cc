#pragma once

/* What a list that `kubenexus dump` wrote says of itself, as annotations of the list. */
#define DUMP_TIME   "dumped-at"
#define DUMP_READ   "read"     /* kinds with all their objects, maybe none */
#define DUMP_DENIED "not-read" /* kinds that may not be read by who dumped it */

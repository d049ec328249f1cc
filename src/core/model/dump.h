#pragma once

/* What a list that `kubenexus dump` wrote says of itself, as annotations of the list. */
#define DUMP_TIME   "kubenexus.io/dumped-at"
#define DUMP_READ   "kubenexus.io/read"     /* kinds with all their objects, maybe none */
#define DUMP_DENIED "kubenexus.io/not-read" /* kinds that may not be read by who dumped it */

#pragma once

/* The most of everything that passes between us and an API server. */

enum {
    PAGE_OBJECTS = 500,            /* of one page of a list; the server may send fewer */
    PAGE_BYTES_MOST = 128 << 20,   /* the body of one page */
    FRAME_BYTES_MOST = 8 << 20,    /* one event of a watch: etcd holds objects of 1.5 MiB */
    OBJECT_BYTES_MOST = 8 << 20,   /* the body of one object */
    STATUS_BYTES_MOST = 64 << 10,  /* the body of a refusal: what is longer is cut off */
    VERDICT_BYTES_MOST = 64 << 20, /* what an extender says: it may be all nodes */
    GROUP_BYTES_MOST = 4 << 20,    /* what one API group serves */

    TELLINGS_IN_FLIGHT = 32,   /* status patches on their way, */
    TELLINGS_MOST = 65536,     /* and those that wait for them: when full, the oldest goes */
    EVENTS_IN_FLIGHT = 64,     /* event writes on their way when no binding is, */
    EVENTS_BESIDE_BINDS = 2,   /* and while one is: bindings come first; */
    EVENTS_A_LANE = 512,       /* but one more for so many that wait, so that few are dropped */
    EVENTS_MOST = 16384,       /* events that wait: when full, the oldest goes */
    POSTINGS_IN_FLIGHT = 16,   /* statuses of groups and reservations on their way, */
    POSTINGS_BESIDE_BINDS = 2, /* and while bindings are; */
    POSTINGS_MOST = 4096,      /* those that wait: when full, the oldest goes */
    SERIES_MOST = 4096,        /* events that may become a series: when full, the oldest goes */
    NOTE_BYTES_MOST = 1024,    /* of an event's text, as the API demands */
};

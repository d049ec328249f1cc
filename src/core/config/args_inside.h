#pragma once

#include "core/config/inside.h"

/* Reading the arguments of plugins, shared by the files that know some of them. */

/* What all kinds of arguments begin with. */
struct args_head {
    struct str api_version, kind;
};

#define HEAD_API_VERSION                                                                           \
    {                                                                                              \
        FIELD(STR, "apiVersion", 0, struct args_head, api_version)                                 \
    }
#define HEAD_KIND                                                                                  \
    {                                                                                              \
        FIELD(STR, "kind", 0, struct args_head, kind)                                              \
    }

struct args_reading {
    struct reading *r;
    const struct known_plugin *plugin;
    struct str text, path;
};

/* Reads and checks them; NULL: the defaults. */
struct args_kind {
    struct str plugin;
    const void *(*read)(const struct args_reading *a);
};

/* The path of something inside the arguments. */
struct str args_at(const struct args_reading *a, const char *fmt, ...) PRINTF(2, 3);

/* Reads all fields; `out` begins with a struct args_head. */
bool args_fields(const struct args_reading *a, const struct field *fields, void *out);

void args_check_range(const struct args_reading *a, struct str path, int64_t value, int64_t low,
                      int64_t high);

/* Is it a label's or resource's name: [prefix/]name? */
void args_check_name(const struct args_reading *a, struct str path, struct str name);

/* --- args_nexus.c --- */

extern const struct args_kind nexus_args[];
extern const uint32_t n_nexus_args;

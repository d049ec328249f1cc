#pragma once

#include "core/config/config.h"
#include "core/config/known.h"
#include "core/wire/field.h"
#include "core/wire/yaml.h"

/* A configuration while it is read, shared by the files of this folder. */

/* The file as it stands, before defaults. */

struct file_plugin {
    struct str name;
    int32_t weight;
};

typedef LIST(struct file_plugin) file_plugins;

struct file_set {
    file_plugins enabled, disabled;
};

struct file_args {
    struct str name;
    struct str args; /* as text */
};

struct file_profile {
    struct str name;
    bool has_name;
    int32_t percentage;
    bool has_percentage;
    struct file_set multi_point, points[N_POINTS];
    LIST(struct file_args) args;
};

struct file_extender_tls {
    bool is_unverified;
    struct str server_name, ca_file, cert_file, key_file;
    struct str ca_data, cert_data, key_data; /* base64 */
};

struct file_managed {
    struct str name;
    bool is_ignored;
};

struct file_extender {
    struct str url, verbs[EXTENDER_VERBS];
    int64_t weight, timeout_ns;
    bool is_https, knows_nodes, is_ignorable;
    struct file_extender_tls tls;
    LIST(struct file_managed) managed;
};

struct file_config {
    struct str api_version, kind;
    int32_t parallelism, percentage;
    bool has_parallelism, has_percentage;
    int64_t first_backoff_s, most_backoff_s;
    bool has_first_backoff, has_most_backoff;
    bool profiles_itself, has_profiles_itself;
    bool profiles_contention, has_profiles_contention;
    bool delays_cache;
    LIST(struct file_profile) profiles;
    LIST(struct file_extender) extenders;

    struct {
        bool is_on, has_is_on;
        int64_t lease_ns, renew_ns, retry_ns;
        struct str lock, namespace, name;
    } election;

    struct {
        struct str kubeconfig, accept_content_types, content_type;
        struct str qps; /* as text */
        int32_t burst;
    } client;
};

extern const struct field file_config_fields[];

/* Go's text for a time span ("1m30s") as nanoseconds. */
extern const struct field_scalar duration_scalar;

/* A plugin that a configuration may name because it brought it along. */
struct known_external {
    struct known_plugin is;
    const struct external *external;
    uint32_t number;
};

struct reading {
    struct scheduler_config *out;
    struct yaml_document yaml; /* its text has moved to out->json */
    struct file_config file;
    const struct externals *externals;      /* NULL: none */
    struct known_external *known_externals; /* those that are to be had */
    uint32_t n_known_externals;
};

/* Adds an error, or a note, about the value at a path (after a hundred of them, nothing); if the
 * value is not there, the line is that of what should hold it. */
void config_error(struct reading *r, struct str path, const char *fmt, ...) PRINTF(3, 4);
void config_note(struct reading *r, struct str path, const char *fmt, ...) PRINTF(3, 4);

#define PATH(r, ...) arena_printf(&(r)->out->mem, __VA_ARGS__)

/* --- walk.c --- */

/* Byte of the JSON text at which the value at `path` begins. */
size_t walk_to(struct str json, struct str path);

/* Adds an error for each field of `value` (a piece of the JSON text, at `path`) that has no row in
 * the table; what is not an object is left to the reader to refuse. */
void walk_unknown(struct reading *r, struct str value, const struct field *fields, struct str path);

/* Adds an error for each field of the whole text that is there twice. */
void walk_doubled(struct reading *r);

/* Reads an object inside the JSON text, which stands at `path`, into a zeroed struct. */
bool walk_read(struct reading *r, struct str value, const struct field *fields, void *out,
               struct str path) MUST_USE;

/* --- args.c --- */

/* The plugin's configuration as its `learn` takes it (core/plugins/args.h), checked; NULL: the
 * defaults. */
const void *args_read(struct reading *r, const struct known_plugin *plugin, struct str args,
                      struct str path);

/* --- extenders.c --- */

extern const struct field extender_fields[];

void extenders_read(struct reading *r);

/* NodeResourcesFit leaves out what extenders take care of alone. */
void extenders_ignore(struct reading *r, struct profile_plugin *p);

/* --- external plugins.c --- */

/* Makes the external plugins known; what is wrong with the others is said where the file names
 * them. */
void externals_begin(struct reading *r);

/* The plugin of this name, external plugins included. */
const struct known_plugin *externals_find(const struct reading *r, struct str name, bool *is_alias);

/* The external plugin that is known as this; NULL: it is built in, or missing. */
const struct known_external *externals_as(const struct reading *r,
                                          const struct known_plugin *known);

/* Was it said already that the external plugin of this name cannot be had? */
bool externals_is_broken(const struct reading *r, struct str name);

/* An external plugin's arguments: what the file says, as it stands. */
const void *externals_args(struct reading *r, const struct known_external *known, struct str json);

/* --- profiles.c --- */

/* Builds all profiles of the file. */
void profiles_build(struct reading *r);

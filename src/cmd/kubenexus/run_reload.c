/* A file is often written in several steps, or its folder is busy: a change is looked at a moment
 * later, and only bytes that we have not seen are read as a configuration. */

#include "cmd/kubenexus/run_reload.h"

#include <errno.h>
#include <signal.h>

#include "cmd/kubenexus/config_read.h"
#include "cmd/kubenexus/log.h"
#include "core/base/mem.h"
#include "io/loop/file_watch.h"

enum { SETTLE_MS = 100 };

struct run_reload {
    struct loop *loop;
    const char *file;
    const struct scheduler_config *current;
    struct run_reload_owner owner;
    struct file_watch *watch;
    struct loop_timer settle;
    uint64_t seen; /* hash of the bytes that were last looked at */
};

/* --- what needs a restart --- */

static bool is_same_election(const struct leader_election *a, const struct leader_election *b)
{
    return a->is_on == b->is_on && a->lease_ms == b->lease_ms && a->renew_ms == b->renew_ms &&
           a->retry_ms == b->retry_ms && str_equal(a->namespace, b->namespace) &&
           str_equal(a->name, b->name);
}

static bool is_same_client(const struct client_connection *a, const struct client_connection *b)
{
    return str_equal(a->kubeconfig, b->kubeconfig) && a->burst == b->burst && a->qps >= b->qps &&
           a->qps <= b->qps && str_equal(a->content_type, b->content_type) &&
           str_equal(a->accept_content_types, b->accept_content_types);
}

static void say_restart(const struct run_reload *r, const char *field)
{
    log_record(LOG_WARNING, "this change needs a restart", log_text("file", r->file),
               log_text("field", field));
}

/* --- reading --- */

static void refuse(const struct run_reload *r, const struct config_message *m, uint32_t errors)
{
    log_record(LOG_WARNING, "configuration refused, the old one stays", log_text("file", r->file),
               log_int("line", m->line), log_str("field", m->path), log_str("why", m->text),
               log_int("errors", errors));
}

static void take(struct run_reload *r, struct str text)
{
    struct scheduler_config next = {.has_groups = r->current->has_groups};
    if (!config_read_text(&next, text)) {
        refuse(r, &next.errors.at[0], next.errors.n);
        scheduler_config_done(&next);
        return;
    }
    if (!is_same_election(&r->current->leader_election, &next.leader_election))
        say_restart(r, "leaderElection");
    if (!is_same_client(&r->current->client, &next.client))
        say_restart(r, "clientConnection");
    config_log_notes(&next, r->file);
    log_record(LOG_INFO, "configuration read again", log_text("file", r->file),
               log_int("profiles", next.n_profiles));
    r->owner.apply(r->owner.ctx, &next);
}

/* The bytes of a file that is not there are none: it is told of once. */
static void look(struct run_reload *r, bool is_asked)
{
    AUTO(buf) text = {0};
    bool is_there = config_read_bytes(r->file, &text);
    struct config_message absent = {.text = str_of(strerror(errno))};
    uint64_t bytes = is_there ? str_hash(buf_str(&text)) : 0;
    bool is_new = bytes != r->seen;
    r->seen = bytes;
    if (is_new && is_there)
        take(r, buf_str(&text));
    else if (is_new || (is_asked && !is_there))
        refuse(r, &absent, 1);
    else if (is_asked)
        log_record(LOG_INFO, "configuration has not changed", log_text("file", r->file));
}

static void on_settled(void *ctx)
{
    look(ctx, false);
}

static void on_change(void *ctx)
{
    struct run_reload *r = ctx;
    loop_timer_set(r->loop, &r->settle, SETTLE_MS);
}

static void on_hangup(void *ctx, int signal)
{
    struct run_reload *r = ctx;
    (void)signal;
    if (r->file)
        look(r, true);
    else
        log_record(LOG_INFO, "there is no configuration file to read again");
}

/* --- beginning and end --- */

struct run_reload *run_reload_new(struct loop *l, const char *file,
                                  const struct scheduler_config *current,
                                  struct run_reload_owner owner)
{
    struct run_reload *r = mem_alloc(sizeof(*r));
    struct error e = {0};
    *r = (struct run_reload){
        .loop = l, .file = file, .current = current, .owner = owner, .seen = current->text_hash};
    r->settle = (struct loop_timer){.fire = on_settled, .ctx = r};
    loop_on_signal(l, SIGHUP, on_hangup, r);
    if (!file)
        return r;
    r->watch = file_watch_new(l, file, on_change, r, &e);
    if (!r->watch)
        log_record(LOG_WARNING, "changes of the configuration are seen on SIGHUP only",
                   log_text("why", e.text));
    loop_timer_set(l, &r->settle, SETTLE_MS); /* what changed since `current` was read */
    return r;
}

void run_reload_free(struct run_reload *r)
{
    if (!r)
        return;
    loop_timer_stop(r->loop, &r->settle);
    file_watch_free(r->watch);
    mem_free(r);
}

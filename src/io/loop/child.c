/* A child has ended when its process has: who holds the other end of the pipe longer (its own
 * children) is not waited for. */

#include "io/loop/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "core/base/mem.h"

struct child {
    struct loop *loop;
    child_fn *fn;
    void *ctx;
    pid_t pid;
    struct child_spec spec; /* its numbers */
    struct buf output;
    struct loop_fd out, process;
    struct loop_timer limit;
    char error[64]; /* why we killed it */
};

static void child_free(struct child *c)
{
    loop_timer_stop(c->loop, &c->limit);
    loop_fd_set(c->loop, &c->out, 0);
    loop_fd_set(c->loop, &c->process, 0);
    close(c->out.fd);
    close(c->process.fd);
    buf_done(&c->output);
    mem_free(c);
}

static void read_output(void *ctx, uint32_t events)
{
    struct child *c = ctx;
    char chunk[4096];
    ssize_t got;
    (void)events;
    while ((got = read(c->out.fd, chunk, sizeof(chunk))) > 0 && c->output.n <= c->spec.output_most)
        buf_add_bytes(&c->output, chunk, (size_t)got);
    if (c->output.n > c->spec.output_most && !c->error[0]) {
        snprintf(c->error, sizeof(c->error), "more than %zu bytes of output", c->spec.output_most);
        kill(c->pid, SIGKILL);
    }
    if (got == 0)
        loop_fd_set(c->loop, &c->out, 0);
}

static void take_too_long(void *ctx)
{
    struct child *c = ctx;
    snprintf(c->error, sizeof(c->error), "no answer within %lld ms", (long long)c->spec.timeout_ms);
    kill(c->pid, SIGKILL);
}

static void see_end(void *ctx, uint32_t events)
{
    struct child *c = ctx;
    int status = 0;
    read_output(c, events); /* what is still in the pipe */
    waitpid(c->pid, &status, 0);
    if (c->error[0] == 0 && WIFSIGNALED(status))
        snprintf(c->error, sizeof(c->error), "killed by signal %d", WTERMSIG(status));
    else if (c->error[0] == 0 && WEXITSTATUS(status))
        snprintf(c->error, sizeof(c->error), "exit status %d", WEXITSTATUS(status));
    loop_fd_set(c->loop, &c->process, 0);
    c->fn(c->ctx, buf_str(&c->output), c->error[0] ? c->error : NULL);
    child_free(c);
}

/* 0 or an errno. */
static int spawn(const struct child_spec *spec, int out, pid_t *pid)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    int rc = posix_spawnp(pid, spec->argv[0], &files, &attributes, spec->argv,
                          spec->env ? spec->env : environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return rc;
}

/* The copy holds none of our files: a connection that we close is closed. */
static int copy_self(const struct child_spec *spec, int out, pid_t *pid)
{
    *pid = fork();
    if (*pid < 0)
        return errno;
    if (*pid > 0)
        return 0;
    dup2(out, STDOUT_FILENO);
    close_range(STDERR_FILENO + 1, ~0u, 0);
    spec->run(spec->arg, STDOUT_FILENO);
    _exit(0);
}

struct child *child_start(struct loop *l, const struct child_spec *spec, child_fn *fn, void *ctx,
                          struct error *e)
{
    int pipe_ends[2];
    pid_t pid = 0;
    if (pipe2(pipe_ends, O_CLOEXEC) < 0) {
        error_set(e, ERROR_BUSY, "pipe: %s", strerror(errno));
        return NULL;
    }
    int rc = spec->run ? copy_self(spec, pipe_ends[1], &pid) : spawn(spec, pipe_ends[1], &pid);
    close(pipe_ends[1]);
    int process = rc ? -1 : pidfd_open(pid, 0);
    if (process < 0) {
        error_set(e, ERROR_BUSY, "%s: %s", spec->run ? "fork" : spec->argv[0],
                  strerror(rc ? rc : errno));
        close(pipe_ends[0]);
        return NULL;
    }
    fcntl(pipe_ends[0], F_SETFL, O_NONBLOCK);
    struct child *c = mem_alloc(sizeof(*c));
    *c = (struct child){.loop = l, .fn = fn, .ctx = ctx, .pid = pid, .spec = *spec};
    c->out = (struct loop_fd){.ready = read_output, .ctx = c, .fd = pipe_ends[0]};
    c->process = (struct loop_fd){.ready = see_end, .ctx = c, .fd = process};
    c->limit = (struct loop_timer){.fire = take_too_long, .ctx = c};
    loop_fd_set(l, &c->out, LOOP_READ);
    loop_fd_set(l, &c->process, LOOP_READ);
    loop_timer_set(l, &c->limit, spec->timeout_ms);
    return c;
}

void child_stop(struct child *c)
{
    kill(c->pid, SIGKILL);
    waitpid(c->pid, NULL, 0);
    child_free(c);
}

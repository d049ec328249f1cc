#pragma once

#include "core/base/buf.h"
#include "io/api/transport.h"

/* What a scheduler is measured against: clients on its own transport that decide nothing. Not
 * shipped; bench/live builds and runs it. */

/* One user of one API server. */
struct desk {
    struct loop *loop;
    struct transport *transport;
    struct requests out; /* sent when the turn ends */
    int64_t breath_ms;   /* of the loop */
    void (*hear)(void *ctx, const struct reply *reply);
    void *ctx;
};

/* Exits, saying why, if there is no way to the server. */
void desk_open(struct desk *d, const char *kubeconfig);
void desk_done(struct desk *d);

/* Sends what is to be sent, and waits for something to happen, at most `wait_ms`; -1: for ever. */
void desk_turn(struct desk *d, int64_t wait_ms);

/* Seconds of CLOCK_MONOTONIC: other processes may compare them. */
double now_s(void);

/* Seconds of CLOCK_REALTIME, as the scheduler's log has them. */
double day_s(void);

/* Seconds of a processor that we used. */
double cpu_s(void);

/* All of stdin. */
void read_input(struct buf *text);

/* Ends the program for a reason. */
_Noreturn void give_up(const char *what, struct str why);

/* A watch that begins with all there is, as kube/watch asks for it. */
struct request watch_of(struct desk *d, request_id id, uint32_t kind);

/* The programs; the arguments are those behind their name. */
int cmd_bind(int argc, char **argv);
int cmd_send(int argc, char **argv);
int cmd_watch(int argc, char **argv);
int cmd_drain(int argc, char **argv);

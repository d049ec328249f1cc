#pragma once

#include "desk.h"
#include "kube/dispatch.h"

/* A dispatcher, the engine's and the server's parts played by the test. */
struct scene {
    struct desk desk;
    struct events events;
    struct dispatch dispatch;
    struct effects effects;
    struct arena mem;
    int64_t now_ms;
};

void scene_done(struct scene *s);
void scene_open(struct scene *s);

/* What happened since it was last read (desk.h). */
const char *scene_log(struct scene *s);

/* The watch says: this is the pod now. */
void scene_see(struct scene *s, enum change_kind kind, const char *line);

void scene_hear(struct scene *s, struct reply reply);

/* To the last request, or to another; or it gets no answer. */
void scene_answer(struct scene *s, int status, const char *body);
void scene_answer_to(struct scene *s, request_id id, int status, const char *body);
void scene_lose(struct scene *s, bool may_have_arrived);

/* Until something is to be done; how long that was. */
int64_t scene_wait(struct scene *s);

#define STATUS(code, message)                                                                      \
    "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"message\":\"" message "\",\"code\":" #code "}"

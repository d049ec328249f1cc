#pragma once

#include "core/model/meta.h"
#include "core/wire/json_write.h"

/* Members of JSON objects that several kinds write. */

void put_text(struct json_writer *j, const char *key, struct str value);
void put_int(struct json_writer *j, const char *key, int64_t value);

/* Opens an object or a list: '{' or '['. */
void put_open(struct json_writer *j, const char *key, char opening);
void put_open_text(struct json_writer *j, struct str key, char opening);

/* Nothing if there are none. */
void put_amounts(struct json_writer *j, const char *key, const amount_list *all);

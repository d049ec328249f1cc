#pragma once

#include "core/model/meta.h"
#include "core/wire/json_write.h"

/* Members of JSON objects that several kinds write. */

/* Opens an object or a list: '{' or '['. */
void put_open_text(struct json_writer *j, struct str key, char opening);

/* Nothing if there are none. */
void put_amounts(struct json_writer *j, const char *key, const amount_list *all);

#include "core/model/put.h"

void put_open_text(struct json_writer *j, struct str key, char opening)
{
    json_put_key(j, key);
    json_put_open(j, opening);
}

void put_amounts(struct json_writer *j, const char *key, const amount_list *all)
{
    if (all->n == 0)
        return;
    put_open(j, key, '{');
    list_each(all, amount) {
        AUTO(buf) text = {0};
        quantity_print(amount->quantity, &text);
        json_put_key(j, amount->name);
        json_put_str(j, buf_str(&text));
    }
    json_put_close(j, '}');
}

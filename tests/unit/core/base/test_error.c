#include "core/base/error.h"

#include <stdio.h>

#include "support/test.h"

TEST(error, says_kind_and_text_and_is_false)
{
    struct error e = {0};
    EXPECT(!error_set(&e, ERROR_INVALID, "\"%s\" is no quantity", "12x"));
    EXPECT_INT(e.kind, ERROR_INVALID);
    EXPECT_TEXT(e.text, "\"12x\" is no quantity");
}

TEST(error, wrapping_puts_the_place_first_and_keeps_the_kind)
{
    struct error e = {0};
    error_set(&e, ERROR_GONE, "too old");
    EXPECT(!error_wrap(&e, "container %s", "main"));
    error_wrap(&e, "pod %s/%s", "default", "a");
    EXPECT_INT(e.kind, ERROR_GONE);
    EXPECT_TEXT(e.text, "pod default/a: container main: too old");
}

/* Text of n bytes that ends in the last bytes of "ß" or in an x, so that cuts meet all positions.
 */
static void fill(char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        text[i] = i % 2 == n % 2 ? (char)0xc3 : (char)0x9f;
    if (n % 2)
        text[0] = 'x';
    text[n] = '\0';
    for (size_t i = n % 2; i + 1 < n; i += 2)
        memcpy(text + i, "ß", 2);
}

TEST(error, a_text_too_long_ends_in_an_ellipsis_between_characters)
{
    for (size_t n = 230; n < 260; n++) {
        char text[300];
        fill(text, n);
        struct error e = {0};
        error_set(&e, ERROR_BUSY, "%s", text);
        size_t length = strlen(e.text);
        if (n < sizeof(e.text)) {
            EXPECT_TEXT(e.text, text);
            continue;
        }
        EXPECT(length < sizeof(e.text) && length >= sizeof(e.text) - 3);
        EXPECT_TEXT(e.text + length - 3, "…");
        EXPECT((length - 3) % 2 == n % 2); /* no half "ß" before it */
    }
}

TEST(error, wrapping_cuts_what_does_not_fit)
{
    struct error e = {0};
    error_set(&e, ERROR_DENIED, "inner");
    for (unsigned i = 0; i < 50; i++)
        error_wrap(&e, "level %u", i);
    EXPECT(strncmp(e.text, "level 49: level 48: ", 20) == 0);
    EXPECT_TEXT(e.text + strlen(e.text) - 3, "…");

    error_wrap(&e, "%0300d", 7);
    EXPECT_INT(strlen(e.text), sizeof(e.text) - 1);
    EXPECT_TEXT(e.text + sizeof(e.text) - 5, "0…");
    EXPECT_INT(e.kind, ERROR_DENIED);
}

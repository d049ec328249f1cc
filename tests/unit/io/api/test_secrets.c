/* Whatever is wrong with a file, or with what a program printed, what it keeps secret is in no
 * error about it. Files are broken in every way that a finger slips: cut, a byte gone, another one
 * in its place or before it. */

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "io/api/exec.h"
#include "support/test.h"

/* So long that a piece of it stays, wherever it is broken. */
#define SECRET "SESAMESESAMESESAMESESAME"

static const char slips[] = "'\"[]{}:*&!#@%,|> \t\n-0x\\/";

static const char whole[] = "current-context: here\n"
                            "clusters:\n"
                            "- name: mine\n"
                            "  cluster:\n"
                            "    server: https://me:" SECRET "@10.0.0.1:6443\n"
                            "    proxy-url: http://me:" SECRET "@proxy:3128\n"
                            "contexts:\n"
                            "- name: here\n"
                            "  context: {cluster: mine, user: me}\n"
                            "users:\n"
                            "- name: me\n"
                            "  user:\n"
                            "    client-certificate-data: Y2VydA==\n"
                            "    client-key-data: " SECRET "\n"
                            "    token: " SECRET "\n"
                            "    exec:\n"
                            "      apiVersion: client.authentication.k8s.io/v1\n"
                            "      command: login\n"
                            "      args: [--password, " SECRET "]\n"
                            "      env: [{name: REGION, value: " SECRET "}]\n";

/* What programs print, and what they should not. */
static const char *const printed[] = {
    "{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/v1\","
    "\"status\":{\"expirationTimestamp\":\"2026-01-01T00:00:00Z\",\"token\":\"" SECRET "\","
    "\"clientCertificateData\":\"c\",\"clientKeyData\":\"" SECRET "\"}}",
    SECRET,
    "\"" SECRET "\"",
    "[\"" SECRET "\"]",
    "{\"status\":\"" SECRET "\"}",
    "{\"status\":{\"token\":[\"" SECRET "\"]}}",
    "{\"status\":{\"token\":\"" SECRET " " SECRET "\"}}",
};

/* An error about the text; "" if nothing is wrong with it. */
typedef void reader(void *ctx, struct str text, struct error *e);

static void read_file(void *ctx, struct str text, struct error *e)
{
    const int *fd = ctx; /* in memory: of disks so many files would ask too much */
    char path[32];
    struct kubeconfig k = {0};
    snprintf(path, sizeof(path), "/proc/self/fd/%d", *fd);
    REQUIRE(ftruncate(*fd, 0) == 0 &&
            pwrite(*fd, text.n ? text.p : "", text.n, 0) == (ssize_t)text.n);
    if (kubeconfig_read(&k, path, e))
        kubeconfig_done(&k);
}

static void read_printed(void *ctx, struct str text, struct error *e)
{
    struct kubeconfig k = {.exec.api_version = STR("client.authentication.k8s.io/v1")};
    int64_t expires_ms;
    (void)ctx;
    if (exec_read(&k, text, &expires_ms, e))
        e->text[0] = '\0';
    kubeconfig_done(&k);
}

/* The broken texts that were refused. */
static uint32_t refusals;

static void check(reader *read, void *ctx, struct str text)
{
    struct error e = {0};
    read(ctx, text, &e);
    refusals += e.text[0] != '\0';
    if (strstr(e.text, "ESAM")) {
        test_case(STR_FMT, STR_ARG(text));
        EXPECT_TEXT(e.text, "something without what is secret");
    }
}

static void break_everywhere(reader *read, void *ctx, struct str text)
{
    AUTO(buf) broken = {0};
    for (size_t at = 0; at <= text.n; at++) {
        struct str before = str_part(text, 0, at), behind = str_part(text, at, text.n);
        check(read, ctx, before);
        for (size_t i = 0; i < sizeof(slips); i++) { /* its NUL, too */
            for (size_t gone = 0; gone < 2; gone++) {
                buf_clear(&broken);
                buf_add(&broken, before);
                buf_add_char(&broken, slips[i]);
                buf_add(&broken, str_part(behind, gone, behind.n));
                check(read, ctx, buf_str(&broken));
            }
        }
        buf_clear(&broken);
        buf_add(&broken, before);
        buf_add(&broken, str_part(behind, 1, behind.n));
        check(read, ctx, buf_str(&broken));
    }
}

TEST(secrets, of_a_kubeconfig_are_in_no_error_about_it)
{
    int fd = memfd_create("config", 0);
    refusals = 0;
    break_everywhere(read_file, &fd, str_of(whole));
    close(fd);
    EXPECT(refusals > 1000);
}

TEST(secrets, that_a_program_prints_are_in_no_error_about_it)
{
    refusals = 0;
    for (size_t i = 0; i < LEN(printed); i++)
        break_everywhere(read_printed, NULL, str_of(printed[i]));
    EXPECT(refusals > 1000);
}

#include "io/api/kubeconfig.h"

#include <stdio.h>

#include "nest.h"
#include "support/test.h"

static const char whole[] = "apiVersion: v1\n"
                            "kind: Config\n"
                            "preferences: {}\n"
                            "current-context: here\n"
                            "clusters:\n"
                            "- name: other\n"
                            "  cluster: {server: 'http://elsewhere'}\n"
                            "- name: mine\n"
                            "  cluster:\n"
                            "    server: https://10.0.0.1:6443/prefix\n"
                            "    certificate-authority: ca.pem\n"
                            "    tls-server-name: kubernetes\n"
                            "    proxy-url: http://me:secret@proxy:3128\n"
                            "contexts:\n"
                            "- name: here\n"
                            "  context: {cluster: mine, user: me, namespace: default}\n"
                            "users:\n"
                            "- name: me\n"
                            "  user:\n"
                            "    client-certificate-data: Y2VydA==\n"
                            "    client-key: key.pem\n"
                            "    token: ignored\n"
                            "    tokenFile: token\n"
                            "    exec:\n"
                            "      apiVersion: client.authentication.k8s.io/v1\n"
                            "      command: ./bin/login\n"
                            "      args: [--cluster, mine]\n"
                            "      env: [{name: REGION, value: north}]\n"
                            "      interactiveMode: IfAvailable\n"
                            "      provideClusterInfo: true\n";

TEST(kubeconfig, the_current_context_says_where_and_who)
{
    AUTO(nest) n = {0};
    AUTO(kubeconfig) k = {0};
    struct error e = {0};
    char wanted[160];
    nest_write(&n, "config", str_of(whole));
    nest_write(&n, "ca.pem", STR("the ca"));
    nest_write(&n, "key.pem", STR("the key"));
    nest_write(&n, "token", STR("  t0ken\n"));
    REQUIRE(EXPECT(kubeconfig_read(&k, nest_path(&n, "config"), &e)) || !EXPECT_TEXT(e.text, ""));
    EXPECT_STR(k.server, "https://10.0.0.1:6443/prefix");
    EXPECT_STR(k.host, "10.0.0.1");
    EXPECT_INT(k.port, 6443);
    EXPECT_STR(k.path_prefix, "/prefix");
    EXPECT(k.is_tls && !k.is_unverified);
    EXPECT_STR(k.ca_pem, "the ca");
    EXPECT_STR(k.server_name, "kubernetes");
    EXPECT_STR(k.proxy_host, "proxy");
    EXPECT_INT(k.proxy_port, 3128);
    EXPECT_STR(k.proxy_authorization, "Basic bWU6c2VjcmV0");
    EXPECT_STR(k.cert_pem, "cert");
    EXPECT_STR(k.key_pem, "the key");
    EXPECT_STR(k.token, "t0ken"); /* a file counts more than what stands here */
    snprintf(wanted, sizeof(wanted), "%s/./bin/login", n.folder);
    EXPECT_STR(k.exec.command, wanted);
    EXPECT_INT(k.exec.args.n, 2);
    EXPECT_STR(k.exec.args.at[1], "mine");
    EXPECT_STR(k.exec.env.at[0].name, "REGION");
    EXPECT_STR(k.exec.env.at[0].value, "north");
    EXPECT(k.exec.provide_cluster_info);
    EXPECT_INT(k.files.n, 4);
    EXPECT_STR(k.files.at[3], nest_path(&n, "token"));
}

/* A good file, with one line replaced. */
TEST(kubeconfig, that_makes_no_sense_is_refused_with_file_field_and_value)
{
    static const struct {
        const char *line, *instead, *error;
    } cases[] = {
        {"current-context: here", "", "current-context: missing"},
        {"current-context: here", "current-context: there",
         "current-context: \"there\" is not in the file"},
        {"current-context: here", "current-context: [1]",
         "line 4: current-context: [1] is not text"},
        {"{cluster: mine, user: me, namespace: default}", "{cluster: nix, user: me}",
         "context here: cluster: \"nix\" is not in the file"},
        {"{cluster: mine, user: me, namespace: default}", "{cluster: mine, user: you}",
         "context here: user: \"you\" is not in the file"},
        {"server: https://10.0.0.1:6443/prefix", "server: 10.0.0.1:6443",
         "cluster mine: server: \"10.0.0.1:6443\" does not begin with https:// or http://"},
        {"proxy-url: http://me:secret@proxy:3128", "proxy-url: https://proxy",
         "cluster mine: proxy-url: \"https://proxy\" is not supported: only http:// is"},
        {"proxy-url: http://me:secret@proxy:3128", "proxy-url: http://me:sec/ret@proxy",
         "cluster mine: proxy-url: \"proxy\" has no port between 1 and 65535"},
        {"proxy-url: http://me:secret@proxy:3128", "proxy-url: [http://me:secret@proxy]",
         "line 13: clusters[1].cluster.proxy-url: the value is not text"},
        {"token: ignored", "token: 1234", "line 22: users[0].user.token: the value is not text"},
        {"token: ignored", "token: *ignored", "line 22: there is no anchor (hidden) before this"},
        {"tls-server-name: kubernetes", "insecure-skip-tls-verify: true",
         "cluster mine: insecure-skip-tls-verify: true makes no sense with a "
         "certificate-authority"},
        {"tls-server-name: kubernetes", "insecure-skip-tls-verify: maybe",
         "line 12: clusters[1].cluster.insecure-skip-tls-verify: \"maybe\" is not true or false"},
        {"client-certificate-data: Y2VydA==", "client-certificate-data: '*'",
         "user me: client-certificate-data: is not base64"},
        {"client-key: key.pem", "", "user me: client-key: missing"},
        {"token: ignored", "username: me", "user me: username: is not supported"},
        {"token: ignored", "as: admin", "user me: as: is not supported"},
        {"token: ignored", "auth-provider: {name: oidc}",
         "user me: auth-provider: is not supported: use exec"},
        {"tokenFile: token", "tokenFile: empty",
         "user me: tokenFile: empty: there is no token in it"},
        {"tokenFile: token", "tokenFile: two-lines",
         "user me: tokenFile: byte 3 is no part of a token"},
        {"apiVersion: client.authentication.k8s.io/v1",
         "apiVersion: client.authentication.k8s.io/v1alpha1",
         "user me: exec.apiVersion: \"client.authentication.k8s.io/v1alpha1\" is not "
         "client.authentication.k8s.io/v1 or v1beta1"},
        {"command: ./bin/login", "", "user me: exec.command: missing"},
        {"interactiveMode: IfAvailable", "interactiveMode: Always",
         "user me: exec.interactiveMode: Always: there is nobody to ask"},
        {"contexts:", "contexts: {", NULL},
    };
    AUTO(nest) n = {0};
    nest_write(&n, "ca.pem", STR("the ca"));
    nest_write(&n, "key.pem", STR("the key"));
    nest_write(&n, "token", STR("t0ken"));
    nest_write(&n, "empty", STR(" \n"));
    nest_write(&n, "two-lines", STR("one\ntwo\n"));
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s", cases[i].instead[0] ? cases[i].instead : cases[i].line);
        const char *at = strstr(whole, cases[i].line);
        REQUIRE(at);
        nest_printf(&n, "config", "%.*s%s%s", (int)(at - whole), whole, cases[i].instead,
                    at + strlen(cases[i].line));
        struct kubeconfig k = {0};
        struct error e = {0};
        EXPECT(!kubeconfig_read(&k, nest_path(&n, "config"), &e));
        struct str text = str_of(e.text), path = str_of(n.path);
        EXPECT(str_starts(text, path));
        if (cases[i].error)
            EXPECT_STR(str_part(text, path.n + 2, text.n), cases[i].error);
        EXPECT(!k.mem.first && !k.files.n);
    }
}

TEST(kubeconfig, names_a_file_that_cannot_be_read)
{
    AUTO(nest) n = {0};
    struct kubeconfig k = {0};
    struct error e = {0};
    char wanted[300];
    EXPECT(!kubeconfig_read(&k, "/nowhere/config", &e));
    EXPECT_TEXT(e.text, "/nowhere/config: No such file or directory");
    nest_write(&n, "config", str_of(whole));
    EXPECT(!kubeconfig_read(&k, nest_path(&n, "config"), &e));
    snprintf(wanted, sizeof(wanted),
             "%s/config: cluster mine: certificate-authority: %s/ca.pem: No such file or directory",
             n.folder, n.folder);
    EXPECT_TEXT(e.text, wanted);
    nest_write(&n, "config", STR("# nothing\n"));
    EXPECT(!kubeconfig_read(&k, nest_path(&n, "config"), &e));
    snprintf(wanted, sizeof(wanted), "%s/config: there is nothing in it", n.folder);
    EXPECT_TEXT(e.text, wanted);
}

TEST(kubeconfig, a_pod_has_a_service_account)
{
    AUTO(nest) n = {0};
    AUTO(kubeconfig) k = {0};
    struct error e = {0};
    nest_write(&n, "ca.crt", STR("the ca"));
    EXPECT(!kubeconfig_read_service_account(&k, n.folder, NULL, "443", &e));
    EXPECT_TEXT(
        e.text,
        "KUBERNETES_SERVICE_HOST: missing in the environment: this is no pod, name a kubeconfig");
    EXPECT(!kubeconfig_read_service_account(&k, n.folder, "10.0.0.1", "443", &e));
    EXPECT(strstr(e.text, "service account: tokenFile: ") &&
           strstr(e.text, "/token: No such file or directory"));
    nest_write(&n, "token", STR("abc"));
    REQUIRE(kubeconfig_read_service_account(&k, n.folder, "fd00::1", "443", &e));
    EXPECT_STR(k.server, "https://[fd00::1]:443");
    EXPECT_STR(k.host, "fd00::1");
    EXPECT_STR(k.ca_pem, "the ca");
    EXPECT_STR(k.token, "abc");
    EXPECT_INT(k.files.n, 2);
}

TEST(kubeconfig, another_server_may_be_named)
{
    AUTO(nest) n = {0};
    AUTO(kubeconfig) k = {0};
    struct error e = {0};
    nest_write(&n, "ca.crt", STR("the ca"));
    nest_write(&n, "token", STR("abc"));
    REQUIRE(kubeconfig_read_service_account(&k, n.folder, "10.0.0.1", "443", &e));
    REQUIRE(kubeconfig_set_server(&k, "http://[::1]:8080/below", &e));
    EXPECT_STR(k.host, "::1");
    EXPECT_INT(k.port, 8080);
    EXPECT_STR(k.path_prefix, "/below");
    EXPECT(!k.is_tls);
    EXPECT_STR(k.token, "abc");
    EXPECT(!kubeconfig_set_server(&k, "ftp://x", &e));
    EXPECT(strstr(e.text, "server: \"ftp://x\" "));
    EXPECT_INT(k.server.n, 0);
}

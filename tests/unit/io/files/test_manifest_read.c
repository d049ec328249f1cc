#include "io/files/manifest_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "support/test.h"

/* What was read, one line for each object, then kinds that were not; or the error. */
static void read_text(struct str text, struct buf *out)
{
    AUTO(objects) o = {0};
    struct error e = {0};
    if (!objects_read_text(&o, "f", text, &e)) {
        EXPECT(!o.all.n && !o.mem.first); /* nothing is half applied */
        buf_add(out, str_of(e.text));
        return;
    }
    for (uint32_t i = 0; i < o.all.n; i++) {
        const struct meta *meta = o.all.at[i].meta;
        buf_printf(out, "%s %s " STR_FMT "/" STR_FMT " %u:%u", out->n ? "," : "",
                   kind_info_get(o.all.at[i].kind)->name, STR_ARG(meta->namespace),
                   STR_ARG(meta->name), o.places.at[i].document, o.places.at[i].line);
    }
    vec_each(&o.skipped, s)
        buf_printf(out, "; %u " STR_FMT, s->n, STR_ARG(s->name));
}

static void expect_read(const char *text, const char *wanted)
{
    AUTO(buf) out = {0};
    read_text(str_of(text), &out);
    buf_add(&out, STR(""));
    if (!EXPECT_TEXT(out.p, wanted))
        EXPECT_TEXT(NULL, text);
}

TEST(manifest, holds_documents_and_lists)
{
    expect_read(
        "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n---\n\napiVersion: v1\nkind: Node\n"
        "metadata:\n  name: node\n",
        " Pod default/a 1:1, Node /node 2:6");
    expect_read(
        "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Pod, metadata: {name: a}}\n"
        "- apiVersion: apps/v1\n  kind: ReplicaSet\n  metadata: {name: r, namespace: x}\n",
        " Pod default/a 1:4, ReplicaSet x/r 1:5");
    expect_read("{\"apiVersion\":\"v1\",\"kind\":\"PodList\",\"metadata\":{},\"items\":[\n"
                "{\"metadata\":{\"name\":\"a\"}},\n{\"metadata\":{\"name\":\"b\"}}]}\n",
                " Pod default/a 1:2, Pod default/b 1:3");
    expect_read(
        "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[{\"kind\":\"List\",\"apiVersion\":"
        "\"v1\",\"items\":[{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"a\"}}]}"
        "]}",
        " Pod default/a 1:1");
    expect_read("{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\"}}\n"
                "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"b\"}}\n---\n"
                "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"c\"}}\n",
                " Pod default/a 1:1, Pod default/b 2:2, Pod default/c 3:4");
    expect_read("{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[]}", "");
    expect_read("---\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: a}\n---\n",
                " Pod default/a 2:3");
}

TEST(manifest, counts_kinds_that_are_not_read)
{
    expect_read(
        "apiVersion: apps/v1\nkind: Deployment\n---\napiVersion: v1\nkind: Node\nmetadata: {name: "
        "node}\n---\napiVersion: apps/v1\nkind: Deployment\n---\napiVersion: x/v1\nkind: Pod\n",
        " Node /node 2:4; 2 Deployment; 1 Pod");
    expect_read("{\"apiVersion\":\"v1\",\"kind\":\"ConfigMapList\",\"items\":[{},{}]}",
                "f: nothing that is read here, but kind ConfigMap");
}

TEST(manifest, errors_name_document_line_field_and_value)
{
    expect_read("", "f: there is no object in it");
    expect_read("# empty\n---\n", "f: there is no object in it");
    expect_read("just text\n", "f: document 1, line 1: \"just text\" is not an object");
    expect_read("- 1\n", "f: document 1, line 1: [1] is not an object");
    expect_read("a: 1\n", "f: document 1, line 1: kind: missing");
    expect_read("kind: Pod\n", "f: document 1, line 1: apiVersion: missing");
    expect_read("kind: 7\n", "f: document 1, line 1: kind: 7 is not text");
    expect_read("apiVersion: v1\nkind: List\nitems:\n- kind: X\n  apiVersion: v1\n- x: 1\n",
                "f: document 1, line 6: kind: missing");
    expect_read("apiVersion: v1\nkind: List\nitems:\n-\n",
                "f: document 1, line 4: null is not an object");
    expect_read("apiVersion: v1\nkind: List\nitems: 5\n",
                "f: document 1, line 3: items: 5 is not a list");
    expect_read("apiVersion: v1\nkind: Pod\nmetadata:\n  labels:\n    a: 1\n",
                "f: document 1, line 5: metadata.labels.a: 1 is not text");
    expect_read(
        "apiVersion: v1\nkind: Node\nmetadata: {name: node}\n---\napiVersion: v1\nkind: Pod\n"
        "metadata: {name: a}\nspec:\n  containers:\n  - resources:\n      requests:\n"
        "        cpu: 12x\n",
        "f: document 2, line 12: spec.containers[0].resources.requests.cpu: \"12x\" is not a "
        "quantity");
    expect_read("{\"apiVersion\":\"v1\",\n\"kind\":\"Node\",\"metadata\":{\"name\":\"n\"},\n"
                "\"status\":{\"allocatable\":{\n\"cpu\":-1}}}",
                "f: document 1, line 4: status.allocatable.cpu: -1 is negative");
    expect_read("{\"apiVersion\":\"v1\"}\n\n{\"kind\":}", "f: document 1, line 1: kind: missing");
    expect_read("{\n\"kind\":}", "f: document 1, line 2: '}' stands where a value should be");
    expect_read("apiVersion: v1\nkind: Pod\nmetadata: {}\n",
                "f: document 1, line 1: metadata.name: missing");
    expect_read("a: [\n", "f: document 1, line 2: did not find expected node content");
}

TEST(manifest, has_each_object_once)
{
    expect_read(
        "{\"apiVersion\":\"v1\",\"kind\":\"PodList\",\"items\":[{\"metadata\":{\"name\":\"a\"}},\n"
        "{\"metadata\":{\"name\":\"a\",\"namespace\":\"b\"}},\n"
        "{\"metadata\":{\"name\":\"a\",\"namespace\":\"default\"}}]}",
        "f: document 1, line 3: Pod default/a is already in f, document 1, line 1");
    expect_read(
        "apiVersion: v1\nkind: Node\nmetadata: {name: a}\n---\napiVersion: v1\nkind: Namespace\n"
        "metadata: {name: a}\n",
        " Node /a 1:1, Namespace /a 2:5");
}

TEST(manifest, names_a_target_in_a_comment)
{
    AUTO(objects) o = {0};
    struct error e = {0};
    REQUIRE(objects_read_text(
        &o, "f",
        STR("# a case\n# target: ns/p \r\nkind: Node\napiVersion: v1\nmetadata: {name: a}\n"), &e));
    EXPECT_STR(o.target, "ns/p");
    objects_done(&o);
    REQUIRE(
        objects_read_text(&o, "f", STR("kind: Node\napiVersion: v1\nmetadata: {name: a}\n"), &e));
    EXPECT_STR(o.target, "");
}

static void write_temporary(char *path, const char *text)
{
    int fd = mkstemp(path);
    REQUIRE(fd >= 0);
    EXPECT_INT(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

TEST(manifest, files_are_read_together_or_not_at_all)
{
    char first[] = "manifest-XXXXXX", second[] = "manifest-XXXXXX";
    write_temporary(first, "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n");
    write_temporary(second,
                    "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"n\"}}");
    const char *files[] = {first, second, first};
    AUTO(objects) o = {0};
    struct error e = {0};
    EXPECT(objects_read(&o, files, 2, &e));
    EXPECT_INT(o.all.n, 2);
    EXPECT_TEXT(o.places.at[1].file, second);
    objects_done(&o);

    char wanted[200];
    snprintf(wanted, sizeof(wanted),
             "%s: document 1, line 1: Pod default/a is already in %s, document 1, line 1", first,
             first);
    EXPECT(!objects_read(&o, files, 3, &e));
    EXPECT_TEXT(e.text, wanted);
    EXPECT_INT(o.all.n, 0);

    files[1] = "no/such/file";
    EXPECT(!objects_read(&o, files, 2, &e));
    EXPECT_TEXT(e.text, "no/such/file: No such file or directory");
    EXPECT_INT(o.all.n, 0);

    files[1] = "/";
    EXPECT(!objects_read(&o, files, 2, &e));
    EXPECT_TEXT(e.text, "/: Is a directory");
    unlink(first);
    unlink(second);
}

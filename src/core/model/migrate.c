#include "core/model/migrate.h"

#include <stdlib.h>

static const struct {
    struct str plugin, driver;
    struct str zone; /* the driver's topology key; empty: zones are left as they are */
} known[] = {
    [IN_TREE_GCE] = {STR("kubernetes.io/gce-pd"), STR("pd.csi.storage.gke.io"),
                     STR("topology.gke.io/zone")},
    [IN_TREE_AWS] = {STR("kubernetes.io/aws-ebs"), STR("ebs.csi.aws.com"),
                     STR("topology.ebs.csi.aws.com/zone")},
    [IN_TREE_AZURE] = {STR("kubernetes.io/azure-disk"), STR("disk.csi.azure.com"), STR("")},
    [IN_TREE_CINDER] = {STR("kubernetes.io/cinder"), STR("cinder.csi.openstack.org"),
                        STR("topology.cinder.csi.openstack.org/zone")},
    [IN_TREE_PORTWORX] = {STR("kubernetes.io/portworx-volume"), STR("pxd.portworx.com"), STR("")},
    [IN_TREE_AZURE_FILE] = {STR("kubernetes.io/azure-file"), STR("file.csi.azure.com"), STR("")},
    [IN_TREE_VSPHERE] = {STR("kubernetes.io/vsphere-volume"), STR("csi.vsphere.vmware.com"),
                         STR("")},
};

enum in_tree in_tree_of(struct str provisioner)
{
    for (size_t i = IN_TREE_NONE + 1; i < LEN(known); i++)
        if (str_equal(known[i].plugin, provisioner))
            return (enum in_tree)i;
    return IN_TREE_NONE;
}

struct str in_tree_driver(enum in_tree plugin)
{
    return known[plugin].driver;
}

uint32_t in_tree_named(struct str annotation)
{
    uint32_t all = 0;
    while (annotation.n)
        all |= (uint32_t)1 << in_tree_of(str_take(&annotation, ','));
    return all & ~(uint32_t)1;
}

struct str zones_next(struct str *rest)
{
    size_t end = 0;
    while (end < rest->n && !(rest->p[end] == '_' && end + 1 < rest->n && rest->p[end + 1] == '_'))
        end++;
    struct str piece = str_part(*rest, 0, end);
    *rest = str_part(*rest, end + 2, rest->n);
    return piece;
}

/* --- what the drivers call a disk --- */

#define NO_HANDLE ((struct str){0})

/* "aws://zone/vol-1" is "vol-1"; what does not look like a URL of that kind stands for itself. */
static struct str aws_handle(struct str id)
{
    if (!str_starts(id, STR("aws://")))
        return id;
    struct str path = str_part(id, 6, id.n);
    path = str_part(path, 0, str_find(path, '#'));
    path = str_part(path, 0, str_find(path, '?'));
    path = str_part(path, str_find(path, '/'), path.n);
    while (path.n && path.p[0] == '/')
        path = str_part(path, 1, path.n);
    while (path.n && path.p[path.n - 1] == '/')
        path = str_part(path, 0, path.n - 1);
    bool is_disk = str_starts(path, STR("vol-")) && str_find(path, '/') == path.n;
    return is_disk ? path : NO_HANDLE;
}

static struct str gce_handle(struct arena *mem, const char *reach, struct str where,
                             struct str disk)
{
    return arena_printf(mem, "projects/UNSPECIFIED/%s/" STR_FMT "/disks/" STR_FMT, reach,
                        STR_ARG(where), STR_ARG(disk));
}

static bool is_managed(struct str kind)
{
    static const char word[] = "managed";
    for (size_t i = 0; i < kind.n; i++)
        if (i >= sizeof(word) - 1 || (kind.p[i] | 0x20) != word[i])
            return false;
    return kind.n == sizeof(word) - 1;
}

/* The disks of which pods and volumes say the same. */
static enum in_tree common(const struct disk_source *aws, const struct disk_source *azure,
                           const struct disk_source *cinder, const struct disk_source *portworx,
                           struct str *handle)
{
    if (aws) {
        *handle = aws_handle(aws->id);
        return IN_TREE_AWS;
    }
    if (azure) {
        *handle = is_managed(azure->kind) ? azure->id : NO_HANDLE;
        return IN_TREE_AZURE;
    }
    const struct disk_source *other = cinder ? cinder : portworx;
    *handle = other ? other->id : NO_HANDLE;
    return cinder ? IN_TREE_CINDER : portworx ? IN_TREE_PORTWORX : IN_TREE_NONE;
}

enum in_tree migrate_inline(const struct volume *v, struct arena *mem, struct str *handle)
{
    if (v->gce_disk) {
        *handle = gce_handle(mem, "zones", STR("UNSPECIFIED"), v->gce_disk->id);
        return IN_TREE_GCE;
    }
    const struct disk_source *never = v->azure_file ? v->azure_file : v->vsphere;
    if (never) {
        *handle = never->id;
        return v->azure_file ? IN_TREE_AZURE_FILE : IN_TREE_VSPHERE;
    }
    return common(v->aws_disk, v->azure_disk, v->cinder, v->portworx, handle);
}

/* --- zones --- */

static struct str label_of(const struct persistent_volume *v, struct str key, bool *has)
{
    list_each(&v->meta.labels, l)
        if (str_equal(l->key, key)) {
            *has = true;
            return l->value;
        }
    *has = false;
    return (struct str){0};
}

/* The region that all zones of the list lie in ("us-east1" of "us-east1-b__us-east1-c"). */
static struct str region_of(struct str zones)
{
    struct str region = NO_HANDLE;
    while (zones.n) {
        struct str zone = zones_next(&zones);
        size_t first = str_find(zone, '-');
        struct str rest = str_part(zone, first + 1, zone.n);
        size_t second = str_find(rest, '-');
        struct str end = str_part(rest, second + 1, rest.n);
        if (second == rest.n || str_find(end, '-') < end.n)
            return NO_HANDLE;
        struct str this = str_part(zone, 0, first + 1 + second);
        if (region.n && !str_equal(region, this))
            return NO_HANDLE;
        region = this;
    }
    return region;
}

static struct str gce_volume_handle(const struct persistent_volume *v, struct arena *mem)
{
    bool has;
    struct str zones = label_of(v, STR(LABEL_BETA_ZONE), &has);
    if (zones.n == 0)
        zones = label_of(v, STR(LABEL_ZONE), &has);
    struct str rest = zones, first = zones_next(&rest);
    if (zones.n == 0)
        return gce_handle(mem, "zones", STR("UNSPECIFIED"), v->spec.gce_disk->id);
    if (first.n == zones.n)
        return gce_handle(mem, "zones", zones, v->spec.gce_disk->id);
    bool ends_empty = str_ends(zones, STR("__"));
    struct str region = ends_empty ? NO_HANDLE : region_of(zones);
    return region.n ? gce_handle(mem, "regions", region, v->spec.gce_disk->id) : NO_HANDLE;
}

/* A copy of the terms that may be written to. */
static struct node_selector *copy_terms(const struct node_selector *from, struct arena *mem)
{
    struct node_selector *copy = arena_array(mem, struct node_selector, 1);
    copy->terms.n = from ? from->terms.n : 0;
    copy->terms.at = arena_array(mem, struct node_selector_term, copy->terms.n);
    for (uint32_t i = 0; i < copy->terms.n; i++) {
        struct node_selector_term *term = &copy->terms.at[i];
        *term = from->terms.at[i];
        uint32_t n = term->match_expressions.n;
        struct requirement *all =
            arena_array(mem, struct requirement, n + 1); /* one may be added */
        if (n)
            memcpy(all, term->match_expressions.at, n * sizeof(*all));
        term->match_expressions.at = all;
    }
    return copy;
}

/* Is the key named in a term, and with values? */
static bool names_key(const struct node_selector *s, struct str key, bool *has_values)
{
    bool is_named = false;
    *has_values = false;
    for (uint32_t i = 0; s && i < s->terms.n; i++)
        list_each(&s->terms.at[i].match_expressions, r)
            if (str_equal(r->key, key)) {
                is_named = true;
                *has_values |= r->values.n > 0;
            }
    return is_named;
}

static void rename_key(struct node_selector *s, struct str from, struct str to)
{
    list_each(&s->terms, term)
        list_each(&term->match_expressions, r)
            if (str_equal(r->key, from))
                r->key = to;
}

/* Which zones, if the label names any. */
static str_list zones_of_label(struct str label, struct arena *mem)
{
    struct str *zones = arena_array(mem, struct str, label.n / 2 + 1);
    uint32_t n = 0;
    while (label.n) {
        struct str zone = zones_next(&label);
        if (zone.n) /* a label's value has no spaces to trim */
            zones[n++] = zone;
    }
    return (str_list){zones, n};
}

/* Every term says `key In zones` as well; there is one at least. */
static void add_zones(struct node_selector *s, struct str key, str_list zones, struct arena *mem)
{
    if (zones.n == 0)
        return;
    if (s->terms.n == 0) {
        s->terms.at = arena_array(mem, struct node_selector_term, 1);
        s->terms.at[0].match_expressions.at = arena_array(mem, struct requirement, 1);
        s->terms.n = 1;
    }
    list_each(&s->terms, term)
        term->match_expressions.at[term->match_expressions.n++] =
            (struct requirement){.key = key, .op = STR("In"), .values = zones};
}

/* Upstream: what the affinity says of zones is said of the driver's key; if it says nothing, the
 * volume's label does. */
static const struct node_selector *translate_zones(const struct persistent_volume *v, struct str to,
                                                   struct arena *mem)
{
    const struct node_selector *from = v->spec.node_affinity;
    bool has_zones, has_label, has_beta_label, has_regions;
    bool is_ga = names_key(from, STR(LABEL_ZONE), &has_zones);
    bool is_beta = !is_ga && names_key(from, STR(LABEL_BETA_ZONE), &has_zones);
    struct str label = label_of(v, STR(LABEL_ZONE), &has_label);
    struct str beta_label = label_of(v, STR(LABEL_BETA_ZONE), &has_beta_label);
    is_beta |= !is_ga && !is_beta && !has_label && has_beta_label;

    struct node_selector *copy = copy_terms(from, mem);
    struct str key = is_beta ? STR(LABEL_BETA_ZONE) : STR(LABEL_ZONE);
    names_key(from, key, &has_zones);
    if (has_zones)
        rename_key(copy, key, to);
    else if (is_beta ? has_beta_label : has_label)
        add_zones(copy, to, zones_of_label(is_beta ? beta_label : label, mem), mem);
    if (is_beta && names_key(from, STR(LABEL_BETA_REGION), &has_regions) && has_regions)
        rename_key(copy, STR(LABEL_BETA_REGION), STR(LABEL_REGION));
    return copy->terms.n || from ? copy : NULL;
}

enum in_tree migrate_volume(const struct persistent_volume *v, struct arena *mem,
                            struct str *handle, const struct node_selector **affinity)
{
    enum in_tree plugin = IN_TREE_GCE;
    if (v->spec.gce_disk)
        *handle = gce_volume_handle(v, mem);
    else
        plugin =
            common(v->spec.aws_disk, v->spec.azure_disk, v->spec.cinder, v->spec.portworx, handle);
    *affinity =
        known[plugin].zone.n ? translate_zones(v, known[plugin].zone, mem) : v->spec.node_affinity;
    return plugin;
}

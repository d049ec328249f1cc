#include "sim/report_html.h"

#include <stdio.h>

#include "sim/plot.h"
#include "sim/report_charts.h"
#include "sim/report_overlays.h"

static const char style[] =
    ":root{color-scheme:light dark;--page:#f6f7f9;--card:#fff;--ink:#1a2230;--soft:#5b6675;"
    "--line:#e3e7ec;--axis:#9aa5b3;--hover:rgba(40,60,90,.07);--best:#e4f3ea;"
    "--s0:#2f6fdb;--s1:#e07b1f;--s2:#1f9d72;--s3:#b8448f;--s4:#7b61c9;--s5:#c29a12;--s6:#3aa0c4;"
    "--s7:#8a6a50;--s8:#3b4657;"
    "--h0:#eef1f5;--h1:#e3edf6;--h2:#cfe2f1;--h3:#b5d4ea;--h4:#95c3e0;--h5:#72add3;--h6:#5195c5;"
    "--h7:#387cb4;--h8:#2663a0;--h9:#184a86;--h10:#0d3268}\n"
    /* dark is full here, too */
    "@media(prefers-color-scheme:dark){:root{--page:#12161c;--card:#1d242d;--ink:#e6eaf0;"
    "--soft:#a3aebc;--line:#323c49;--axis:#66748599;--hover:rgba(200,220,255,.08);--best:#1f3b2f;"
    "--s0:#6aa3ff;--s1:#f2a04e;--s2:#4cc79a;--s3:#e07dbb;--s4:#a894ec;--s5:#e0bf4d;--s6:#6cc6e4;"
    "--s7:#bf9d80;--s8:#c3ccd8;"
    "--h0:#c9d6e2;--h1:#bccddc;--h2:#a9c0d4;--h3:#93b1cb;--h4:#7ba0c1;--h5:#628db4;--h6:#4c7aa6;"
    "--h7:#396795;--h8:#285381;--h9:#183f6a;--h10:#0a2850}}\n"
    "*{box-sizing:border-box}body{margin:0;background:var(--page);color:var(--ink);"
    "font:16px/1.5 system-ui,-apple-system,\"Segoe UI\",Roboto,\"Helvetica Neue\",Arial,sans-serif;"
    "font-variant-numeric:tabular-nums}\n"
    "main{margin:0 auto;padding:32px clamp(12px,2.5vw,48px) 56px}"
    "h1{font-size:2rem;line-height:1.2;margin:0 0 6px;letter-spacing:-.015em}"
    "h2{font-size:1.35rem;margin:34px 0 0;letter-spacing:-.005em}"
    "h3{font-size:1.1rem;margin:0}p{margin:0}"
    ".lead{color:var(--soft);max-width:60em}\n"
    ".who{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,340px),1fr));gap:12px;"
    "margin:22px 0 0;padding:0;list-style:none}"
    ".who li,.tiles li{background:var(--card);border:1px solid var(--line);border-radius:10px;"
    "padding:13px 16px}.who b{font-size:1.1rem;overflow-wrap:anywhere}"
    ".who p{color:var(--soft);font-size:.88rem}\n"
    ".tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,130px),1fr));"
    "gap:12px;margin:14px 0 0;padding:0;list-style:none}"
    ".tiles span{display:block;color:var(--soft);font-size:.82rem}"
    ".tiles b{display:block;font-size:1.45rem;line-height:1.3;font-weight:650;"
    "letter-spacing:-.01em}\n"
    ".charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,520px),1fr));"
    "gap:16px;margin:16px 0 0}"
    ".top{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,1000px),1fr));"
    "gap:0 16px;align-items:start}.top>*{min-width:0}"
    ".sides{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,960px),1fr));"
    "gap:0 28px;align-items:start}.sides>*{min-width:0}"
    "figure,section{margin:0;background:var(--card);border:1px solid var(--line);"
    "border-radius:10px;padding:16px 18px 12px;min-width:0}section{margin:16px 0 0}"
    "figure{container-type:inline-size}"
    "figcaption p,section p.words{color:var(--soft);font-size:.9rem}\n"
    ".plot{position:relative;margin:34px 14px 46px 58px}.rows{margin:8px 14px 46px 122px}"
    ".plot svg{position:absolute;inset:0;width:100%;height:100%;display:block;overflow:visible}"
    ".plot span{position:absolute;font-size:12px;line-height:1.2;color:var(--soft);"
    "white-space:nowrap}"
    ".y{right:100%;padding-right:8px;transform:translateY(-50%)}"
    ".x{top:100%;padding-top:7px;transform:translateX(-50%)}"
    ".yt{right:100%;bottom:100%;padding:0 8px 12px 0;margin-right:-58px}"
    ".plot .yt{right:auto;left:-50px;padding:0 0 12px}"
    ".xt{top:100%;left:0;right:0;padding-top:25px;text-align:center}"
    ".row{right:100%;max-width:118px;padding-right:8px;transform:translateY(-50%);overflow:hidden;"
    "text-overflow:ellipsis}"
    "@container(max-width:640px){.r2{display:none}}@container(max-width:420px){.r1{display:none}"
    ".plot .b{font-size:10.5px}}"
    "@container(max-width:520px){.rows{margin-left:84px}.row{max-width:84px}}\n"
    ".legend{display:flex;flex-wrap:wrap;gap:4px 18px;margin:8px 0 0;padding:0;list-style:none;"
    "font-size:.86rem}.key{display:inline-block;width:11px;height:11px;border-radius:3px;"
    "margin-right:6px;vertical-align:-1px}"
    ".shades{gap:0;align-items:center;color:var(--soft)}.shades "
    ".key{margin:0;width:18px;border-radius:0}"
    ".shades li:first-child{margin-right:7px}.shades li:last-child{margin-left:7px}\n"
    ".grid{stroke:var(--line);fill:none}.axis{stroke:var(--axis);fill:none}"
    ".grid,.axis,.line{vector-effect:non-scaling-stroke}"
    ".line{fill:none!important;stroke-width:2;stroke-linejoin:round}.area{fill-opacity:.85}"
    ".line.s8{stroke-dasharray:5 4;stroke-width:1.5}.area,.bar{stroke:none}"
    ".stripe{fill:transparent}.stripe:hover{fill:var(--hover)}.bar:hover{fill-opacity:.8}"
    ".rows rect:hover{stroke:var(--ink);stroke-width:1.5;vector-effect:non-scaling-stroke}\n"
    ".scroll{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:.9rem;"
    "margin-top:8px}th,td{padding:6px 10px;text-align:right;border-bottom:1px solid var(--line);"
    "white-space:nowrap}th{color:var(--soft);font-weight:600;font-size:.8rem}"
    "th:first-child,td:first-child{text-align:left;padding-left:0}"
    "tr:last-child td{border-bottom:0}td.text{white-space:normal;text-align:left}"
    "tr.sum td{font-weight:650}td.best{font-weight:650;background:var(--best)}"
    "#comparison td:first-child{white-space:normal}"
    "#comparison th{white-space:normal;overflow-wrap:anywhere}"
    "@media(max-width:560px){th,td{padding:5px 6px}#comparison table{font-size:.82rem}"
    "h1{font-size:1.55rem}figure,section{padding:14px 12px 10px}}"
    "dl{display:grid;grid-template-columns:max-content 1fr;gap:4px 20px;"
    "margin:8px 0 4px;font-size:.9rem}dt{color:var(--soft)}dd{margin:0}"
    ".notes{margin:10px 0 4px;padding-left:20px;font-size:.9rem;color:var(--soft)}"
    "footer{margin-top:22px;color:var(--soft);font-size:.82rem}\n"
    "@media print{:root{--page:#fff}body{font-size:11pt}main{padding:0;max-width:none}"
    "figure,section{break-inside:avoid;border:0;padding:8px 0}.tiles li{padding:8px 10px}"
    "*{print-color-adjust:exact;-webkit-print-color-adjust:exact}}\n";

static void add_style(struct buf *out)
{
    buf_printf(out, "<style>\n%s", style);
    for (int i = 0; i <= 8; i++)
        buf_printf(out, ".s%d{fill:var(--s%d);stroke:var(--s%d)}.k%d{background:var(--s%d)}", i, i,
                   i, i, i);
    buf_printf(out, ".area,.bar{stroke:none}");
    for (int i = 0; i <= 10; i++)
        buf_printf(out, ".h%d{fill:var(--h%d)}.c%d{background:var(--h%d)}", i, i, i, i);
    buf_printf(out, "\n</style>\n");
}

static struct str title_of(const struct summary *s)
{
    struct str title = s->books->plan->title;
    return title.n ? title : STR("simulation");
}

static void add_head(const struct comparison *c, struct buf *out)
{
    const struct summary *s = &c->all[0];
    const struct plan *p = s->books->plan;
    buf_printf(out, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                    "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
                    "<title>KubeNexus simulation: ");
    html_add(out, title_of(s));
    buf_printf(out, "</title>\n");
    add_style(out);
    buf_printf(out, "</head>\n<body>\n<main>\n<header>\n<h1>");
    html_add(out, title_of(s));
    buf_printf(out, "</h1>\n<p class=\"lead\">");
    if (p->summary.n) {
        html_add(out, p->summary);
        buf_printf(out, " ");
    }
    buf_printf(out, "%s nodes and %s pods over %s of virtual time", text_count(p->nodes.n).s,
               text_count(p->pods).s, text_ms(s->books->end_ms).s);
    if (c->n > 1)
        buf_printf(out, ", the same under each of %u contestants", c->n);
    buf_printf(out, ".</p>\n</header>\n");
}

/* Which profile and policy decided. */
static void add_contestants(const struct comparison *c, const struct host *host, struct buf *out)
{
    struct buf text = {0};
    buf_printf(out, "<ul class=\"who\" aria-label=\"Who decided\">\n");
    for (uint32_t i = 0; i < c->n; i++) {
        const struct summary *s = &c->all[i];
        buf_clear(&text);
        contestant_text(&s->who, &text);
        buf_printf(out, "<li><i class=\"key k%u\"></i><b>", i);
        html_add(out, s->who.name.n ? s->who.name : STR("scheduler"));
        buf_printf(out, "</b><p>");
        html_add(out, buf_str(&text));
        buf_printf(out, ".</p><p>%s decisions", text_count(s->engine.decisions).s);
        if (host)
            buf_printf(out, " in %.2f s", host[i].wall_s);
        buf_printf(out, "</p></li>\n");
    }
    buf_printf(out, "</ul>\n");
    buf_done(&text);
}

static void add_comparison(const struct comparison *c, struct buf *out)
{
    buf_printf(out, "<section id=\"comparison\"><h3>Who did better at what</h3>"
                    "<p class=\"words\">The best of each row is marked, unless they are alike.</p>"
                    "<div class=\"scroll\"><table>\n<thead><tr><th scope=\"col\"></th>");
    for (uint32_t i = 0; i < c->n; i++) {
        buf_printf(out, "<th scope=\"col\">");
        html_add(out, c->all[i].who.name);
        buf_printf(out, "</th>");
    }
    buf_printf(out, "</tr></thead>\n<tbody>\n");
    vec_each(&c->rows, row) {
        buf_printf(out, "<tr><td>");
        html_add(out, str_of(row->name));
        buf_printf(out, "</td>");
        for (uint32_t i = 0; i < c->n; i++)
            buf_printf(out, "<td%s>%s</td>", row->best == i ? " class=\"best\"" : "",
                       row->values[i].s);
        buf_printf(out, "</tr>\n");
    }
    buf_printf(out, "</tbody></table></div>\n<ul class=\"notes\">\n");
    for (uint32_t i = 0; comparison_rules[i]; i++)
        buf_printf(out, "<li>%s</li>\n", comparison_rules[i]);
    buf_printf(out, "</ul></section>\n");
}

static void add_tile(struct buf *out, const char *name, const char *value)
{
    buf_printf(out, "<li><span>%s</span><b>%s</b></li>\n", name, value);
}

static void add_tiles(const struct summary *s, struct buf *out)
{
    const struct resource_summary *r = &s->resources.at[s->books->watched];
    struct face face = face_of(r->name);
    char name[100];
    buf_printf(out, "<ul class=\"tiles\" aria-label=\"Headline numbers\">\n");
    snprintf(name, sizeof(name), "%s utilisation, mean", face.label);
    add_tile(out, name, text_share(r->mean_share).s);
    snprintf(name, sizeof(name), "%s utilisation, peak", face.label);
    add_tile(out, name, text_share(r->peak_share).s);
    add_tile(out, "Wait, median", s->all.n_waits ? text_ms(s->all.wait.p50_ms).s : "–");
    add_tile(out, "Wait, 99th percentile", s->all.n_waits ? text_ms(s->all.wait.p99_ms).s : "–");
    add_tile(out, "Pods bound", text_count(s->all.bound).s);
    add_tile(out, "Pods pending at the end", text_count(s->all.waiting + s->all.failed).s);
    add_tile(out, "Makespan", text_ms(s->makespan_ms).s);
    add_tile(out, "Evicted pods", text_count(s->all.evicted).s);
    buf_printf(out, "</ul>\n");
}

/* --- tables --- */

static void add_wait_cells(struct buf *out, const struct class_summary *c)
{
    int64_t waits[] = {(int64_t)c->wait.mean_ms, c->wait.p50_ms, c->wait.p90_ms, c->wait.p99_ms,
                       c->wait.most_ms};
    for (size_t i = 0; i < LEN(waits); i++)
        buf_printf(out, "<td>%s</td>", c->n_waits ? text_ms(waits[i]).s : "–");
}

static void add_class_row(struct buf *out, const struct class_summary *c, const char *kind)
{
    buf_printf(out, "<tr%s><td>", kind);
    html_add(out, c->name);
    buf_printf(out, "</td><td>%s</td><td>%s</td><td>%s</td><td>%s</td>", text_count(c->created).s,
               text_count(c->bound).s, text_count(c->waiting + c->failed).s,
               text_count(c->evicted).s);
    add_wait_cells(out, c);
    buf_printf(out, "</tr>\n");
}

static void section_open(struct buf *out, const char *id, uint32_t number, const char *title)
{
    buf_printf(out, "<section id=\"%s", id);
    if (number)
        buf_printf(out, "-%u", number + 1);
    buf_printf(out, "\"><h3>%s</h3>", title);
}

static void add_classes(const struct summary *s, uint32_t number, struct buf *out)
{
    section_open(out, "jobs", number, "Job classes");
    buf_printf(out, "<div class=\"scroll\"><table>\n<thead>"
                    "<tr><th scope=\"col\">Class</th><th scope=\"col\">Pods</th>"
                    "<th scope=\"col\">Bound</th><th scope=\"col\">Pending</th>"
                    "<th scope=\"col\">Evicted</th><th scope=\"col\">Wait mean</th>"
                    "<th scope=\"col\">p50</th><th scope=\"col\">p90</th><th scope=\"col\">p99</th>"
                    "<th scope=\"col\">Longest</th></tr></thead>\n<tbody>\n");
    list_each(&s->classes, c)
        add_class_row(out, c, "");
    if (s->classes.n > 1)
        add_class_row(out, &s->all, " class=\"sum\"");
    buf_printf(out, "</tbody></table></div></section>\n");
}

static void add_resources(const struct summary *s, uint32_t number, struct buf *out)
{
    section_open(out, "resources", number, "Resources");
    buf_printf(out, "<div class=\"scroll\"><table>\n"
                    "<thead><tr><th scope=\"col\">Resource</th><th scope=\"col\">Capacity</th>"
                    "<th scope=\"col\">At start</th><th scope=\"col\">Mean</th>"
                    "<th scope=\"col\">Peak</th></tr></thead>\n<tbody>\n");
    list_each(&s->resources, r) {
        struct face face = face_of(r->name);
        buf_printf(out, "<tr><td>");
        html_add(out, str_of(face.label));
        buf_printf(out, "</td><td>%s %s</td><td>%s</td><td>%s</td><td>%s</td></tr>\n",
                   text_amount(r->room / face.per_unit).s, face.unit,
                   text_share(r->room > 0 ? r->first / r->room : 0).s, text_share(r->mean_share).s,
                   text_share(r->peak_share).s);
    }
    buf_printf(out, "</tbody></table></div></section>\n");
}

static void add_complaints(const struct summary *s, uint32_t number, struct buf *out)
{
    enum { SHOWN = 8 };
    const struct books *b = s->books;
    if (b->complaints.n == 0)
        return;
    section_open(out, "pending", number, "Still pending");
    buf_printf(out, "<p class=\"words\">What the pods "
                    "that wait at the end were last told.</p><div class=\"scroll\"><table>\n<thead>"
                    "<tr><th scope=\"col\">Pods</th><th scope=\"col\" style=\"text-align:left\">"
                    "Message</th></tr></thead>\n<tbody>\n");
    for (uint32_t i = 0; i < MIN(b->complaints.n, (uint32_t)SHOWN); i++) {
        buf_printf(out, "<tr><td>%s</td><td class=\"text\">",
                   text_count(b->complaints.at[i].pods).s);
        html_add(out, b->complaints.at[i].text);
        buf_printf(out, "</td></tr>\n");
    }
    buf_printf(out, "</tbody></table></div>");
    if (b->complaints.n > SHOWN)
        buf_printf(out, "<p class=\"words\">… and %s other messages.</p>",
                   text_count(b->complaints.n - SHOWN).s);
    buf_printf(out, "</section>\n");
}

static void add_fact(struct buf *out, const char *name, const char *value)
{
    buf_printf(out, "<dt>%s</dt><dd>%s</dd>\n", name, value);
}

static void add_facts(const struct comparison *c, const struct host *host, struct buf *out)
{
    const struct plan *p = c->all[0].books->plan;
    char text[200];
    section_open(out, "scenario", 0, "Scenario");
    buf_printf(out, "<dl>\n");
    snprintf(text, sizeof(text), "%s in %s %ss", text_count(p->nodes.n).s,
             text_count(p->groups.n).s, p->group_word);
    add_fact(out, "Nodes", text);
    snprintf(text, sizeof(text), "%s with %s pods, in %u classes", text_count(p->works.n).s,
             text_count(p->pods).s, p->classes.n);
    add_fact(out, "Jobs", text);
    snprintf(text, sizeof(text), "%llu", (unsigned long long)p->seed);
    add_fact(out, "Seed", text);
    add_fact(out, "Until", p->until_ms == INT64_MAX ? "all is done" : text_ms(p->until_ms).s);
    for (uint32_t i = 0; i < c->n; i++) {
        const struct books *b = c->all[i].books;
        if (b->bind_faults || b->node_faults) {
            snprintf(text, sizeof(text), "%s bindings and %s nodes failed, %s pods lost with them",
                     text_count(b->bind_faults).s, text_count(b->node_faults).s,
                     text_count(b->lost.pods).s);
            add_fact(out, "Faults", text);
        }
    }
    if (host) {
        snprintf(text, sizeof(text), "%.1f MiB", (double)host[c->n - 1].peak_bytes / (1 << 20));
        add_fact(out, "Memory, at most", text);
    }
    buf_printf(out, "</dl>\n");
    if (p->notes.n) {
        buf_printf(out, "<ul class=\"notes\">\n");
        vec_each(&p->notes, note) {
            buf_printf(out, "<li>");
            html_add(out, *note);
            buf_printf(out, "</li>\n");
        }
        buf_printf(out, "</ul>\n");
    }
    buf_printf(out, "</section>\n");
}

static void add_overlays(const struct comparison *c, struct buf *out)
{
    buf_printf(out, "<div class=\"charts\">\n");
    if (c->n == 1)
        chart_utilisation(&c->all[0], out);
    else
        overlay_use(c, out);
    overlay_waits(c, out);
    overlay_islands(c, out);
    overlay_gangs(c, out);
    overlay_evictions(c, out);
    overlay_queue(c, out);
    buf_printf(out, "</div>\n");
}

/* All about one of them. */
static void add_side(const struct comparison *c, uint32_t i, struct buf *out)
{
    enum { CELLS_MOST = 1700, CELLS_IN_ALL = 2600 }; /* of the maps of groups */
    const struct summary *s = &c->all[i];
    buf_printf(out, "<div>\n");
    if (c->n > 1) {
        buf_printf(out, "<h2><i class=\"key k%u\"></i>", i);
        html_add(out, s->who.name);
        buf_printf(out, "</h2>\n");
    }
    buf_printf(out, "<div class=\"charts\">\n");
    chart_classes(s, i, out);
    chart_waits(s, i, out);
    buf_printf(out, "</div>\n<div class=\"charts\">\n");
    chart_groups(s, i, MIN((uint32_t)CELLS_MOST, CELLS_IN_ALL / c->n), out);
    buf_printf(out, "</div>\n");
    add_classes(s, i, out);
    add_resources(s, i, out);
    add_complaints(s, i, out);
    buf_printf(out, "</div>\n");
}

void report_html(const struct comparison *c, const struct host *host, struct buf *out)
{
    add_head(c, out);
    add_contestants(c, host, out);
    if (c->n == 1)
        add_tiles(&c->all[0], out);
    buf_printf(out, "<div class=\"top\">\n");
    if (c->n > 1)
        add_comparison(c, out);
    add_overlays(c, out);
    buf_printf(out, "</div>\n");
    buf_printf(out, "<div class=\"sides\">\n");
    for (uint32_t i = 0; i < c->n; i++)
        add_side(c, i, out);
    buf_printf(out, "</div>\n");
    add_facts(c, host, out);
    buf_printf(out,
               "<footer>Made by kubenexus simulate. Every figure comes from the scheduler that "
               "also runs in a cluster, in virtual time.</footer>\n"
               "</main>\n</body>\n</html>\n");
}

#include "sim/report_html.h"

#include <stdio.h>

#include "sim/plot.h"
#include "sim/report_charts.h"
#include "sim/text.h"

static const char style[] =
    ":root{color-scheme:light dark;--page:#f6f7f9;--card:#fff;--ink:#1a2230;--soft:#5b6675;"
    "--line:#e3e7ec;--axis:#9aa5b3;--hover:rgba(40,60,90,.07);"
    "--s0:#2f6fdb;--s1:#e07b1f;--s2:#1f9d72;--s3:#b8448f;--s4:#7b61c9;--s5:#c29a12;--s6:#3aa0c4;"
    "--s7:#8a6a50;--s8:#3b4657;"
    "--h0:#eef1f5;--h1:#e3edf6;--h2:#cfe2f1;--h3:#b5d4ea;--h4:#95c3e0;--h5:#72add3;--h6:#5195c5;"
    "--h7:#387cb4;--h8:#2663a0;--h9:#184a86;--h10:#0d3268}\n"
    "@media(prefers-color-scheme:dark){:root{--page:#12161c;--card:#1a2028;--ink:#e6eaf0;"
    "--soft:#9aa6b5;--line:#2c3541;--axis:#5f6c7c;--hover:rgba(200,220,255,.08);"
    "--s0:#6aa3ff;--s1:#f2a04e;--s2:#4cc79a;--s3:#e07dbb;--s4:#a894ec;--s5:#e0bf4d;--s6:#6cc6e4;"
    "--s7:#bf9d80;--s8:#c3ccd8;"
    "--h0:#222a34;--h1:#223040;--h2:#21384f;--h3:#20425f;--h4:#1f4e72;--h5:#205d89;--h6:#2470a2;"
    "--h7:#3286ba;--h8:#4f9fcf;--h9:#7bbbe0;--h10:#b3daf0}}\n"
    "*{box-sizing:border-box}body{margin:0;background:var(--page);color:var(--ink);"
    "font:16px/1.5 system-ui,-apple-system,\"Segoe UI\",Roboto,\"Helvetica Neue\",Arial,sans-serif;"
    "font-variant-numeric:tabular-nums}\n"
    "main{max-width:1120px;margin:0 auto;padding:40px 20px 56px}"
    "h1{font-size:2rem;line-height:1.2;margin:0 0 6px;letter-spacing:-.015em}"
    "h2{font-size:1.15rem;margin:0;letter-spacing:-.005em}p{margin:0}"
    ".lead{color:var(--soft);max-width:46em}\n"
    ".tiles{display:grid;grid-template-columns:repeat(4,1fr);gap:12px;"
    "margin:26px 0 0;padding:0;list-style:none}"
    "@media(max-width:760px){.tiles{grid-template-columns:repeat(2,1fr)}}"
    ".tiles li{background:var(--card);border:1px solid var(--line);border-radius:10px;"
    "padding:13px 16px}.tiles span{display:block;color:var(--soft);font-size:.82rem}"
    ".tiles b{display:block;font-size:1.55rem;line-height:1.3;font-weight:650;"
    "letter-spacing:-.01em}\n"
    "figure,section{margin:20px 0 0;background:var(--card);border:1px solid var(--line);"
    "border-radius:10px;padding:18px 20px 14px}"
    "figcaption p,section p.words{color:var(--soft);font-size:.9rem}"
    "figure>svg{display:block;width:100%;height:auto;margin-top:6px}\n"
    ".legend{display:flex;flex-wrap:wrap;gap:4px 18px;margin:8px 0 0;padding:0;list-style:none;"
    "font-size:.86rem}.legend .key{width:11px;height:11px;margin-right:6px;vertical-align:-1px}"
    ".shades{gap:0;align-items:center;color:var(--soft)}.shades "
    ".key{margin:0;width:18px;height:11px}"
    ".shades li:first-child{margin-right:7px}.shades li:last-child{margin-left:7px}\n"
    "svg text{font-size:12px;fill:var(--soft)}svg .end{text-anchor:end}svg .mid{text-anchor:middle}"
    "svg .row{font-size:11px}.grid{stroke:var(--line);fill:none}.axis{stroke:var(--axis);fill:none}"
    ".line{fill:none!important;stroke-width:2;stroke-linejoin:round}.area{fill-opacity:.85}"
    ".line.s8{stroke-dasharray:5 4;stroke-width:1.5}#queue .area{fill-opacity:.18}"
    ".stripe{fill:transparent}.stripe:hover{fill:var(--hover)}"
    "#groups rect:hover{stroke:var(--ink);stroke-width:1.5}\n"
    ".scroll{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:.9rem;"
    "margin-top:8px}th,td{padding:6px 10px;text-align:right;border-bottom:1px solid var(--line);"
    "white-space:nowrap}th{color:var(--soft);font-weight:600;font-size:.8rem}"
    "th:first-child,td:first-child{text-align:left;padding-left:0}"
    "tr:last-child td{border-bottom:0}td.text{white-space:normal;text-align:left}"
    "tr.sum td{font-weight:650}dl{display:grid;grid-template-columns:max-content 1fr;gap:4px 20px;"
    "margin:8px 0 4px;font-size:.9rem}dt{color:var(--soft)}dd{margin:0}"
    ".notes{margin:10px 0 4px;padding-left:20px;font-size:.9rem}"
    "footer{margin-top:22px;color:var(--soft);font-size:.82rem}\n"
    "@media print{:root{--page:#fff}body{font-size:11pt}main{padding:0;max-width:none}"
    "figure,section{break-inside:avoid;border:0;padding:8px 0}.tiles li{padding:8px 10px}"
    "*{print-color-adjust:exact;-webkit-print-color-adjust:exact}}\n";

static void add_style(struct buf *out)
{
    buf_printf(out, "<style>\n%s", style);
    for (int i = 0; i <= 8; i++)
        buf_printf(out, ".s%d{fill:var(--s%d);stroke:var(--s%d)}", i, i, i);
    buf_printf(out, ".area,.key rect{stroke:none}");
    for (int i = 0; i <= 10; i++)
        buf_printf(out, ".h%d{fill:var(--h%d)}", i, i);
    buf_printf(out, "\n</style>\n");
}

static struct str title_of(const struct summary *s)
{
    struct str title = s->books->plan->title;
    return title.n ? title : STR("simulation");
}

static void add_head(const struct summary *s, struct buf *out)
{
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
    buf_printf(out, "%s nodes and %s pods over %s of virtual time.</p>\n</header>\n",
               text_count(p->nodes.n).s, text_count(p->pods).s, text_ms(s->books->end_ms).s);
}

static void add_tile(struct buf *out, const char *name, const char *value)
{
    buf_printf(out, "<li><span>%s</span><b>%s</b></li>\n", name, value);
}

static void add_tiles(const struct summary *s, const struct host *host, struct buf *out)
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
    if (host) {
        double per_s = (double)s->engine.decisions / MAX(host->wall_s, 1e-6);
        add_tile(out, "Decisions per second, real time", text_count((uint64_t)per_s).s);
    } else {
        add_tile(out, "Decisions", text_count(s->engine.decisions).s);
    }
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
               text_count(c->bound).s, text_count(c->waiting).s, text_count(c->failed).s);
    add_wait_cells(out, c);
    buf_printf(out, "</tr>\n");
}

static void add_classes(const struct summary *s, struct buf *out)
{
    buf_printf(out,
               "<section id=\"jobs\"><h2>Job classes</h2><div class=\"scroll\"><table>\n<thead>"
               "<tr><th scope=\"col\">Class</th><th scope=\"col\">Pods</th>"
               "<th scope=\"col\">Bound</th><th scope=\"col\">Pending</th>"
               "<th scope=\"col\">Failed</th><th scope=\"col\">Wait mean</th>"
               "<th scope=\"col\">p50</th><th scope=\"col\">p90</th><th scope=\"col\">p99</th>"
               "<th scope=\"col\">Longest</th></tr></thead>\n<tbody>\n");
    list_each(&s->classes, c)
        add_class_row(out, c, "");
    if (s->classes.n > 1)
        add_class_row(out, &s->all, " class=\"sum\"");
    buf_printf(out, "</tbody></table></div></section>\n");
}

static void add_resources(const struct summary *s, struct buf *out)
{
    buf_printf(out, "<section id=\"resources\"><h2>Resources</h2><div class=\"scroll\"><table>\n"
                    "<thead><tr><th scope=\"col\">Resource</th><th scope=\"col\">Capacity</th>"
                    "<th scope=\"col\">In use, mean</th><th scope=\"col\">Mean</th>"
                    "<th scope=\"col\">Peak</th></tr></thead>\n<tbody>\n");
    list_each(&s->resources, r) {
        struct face face = face_of(r->name);
        buf_printf(out, "<tr><td>");
        html_add(out, str_of(face.label));
        buf_printf(out, "</td><td>%s %s</td><td>%s</td><td>%s</td><td>%s</td></tr>\n",
                   text_amount(r->room / face.per_unit).s, face.unit,
                   text_amount(r->mean / face.per_unit).s, text_share(r->mean_share).s,
                   text_share(r->peak_share).s);
    }
    buf_printf(out, "</tbody></table></div></section>\n");
}

static void add_complaints(const struct summary *s, struct buf *out)
{
    enum { SHOWN = 8 };
    const struct books *b = s->books;
    if (b->complaints.n == 0)
        return;
    buf_printf(out,
               "<section id=\"pending\"><h2>Still pending</h2><p class=\"words\">What the pods "
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

static void add_facts(const struct summary *s, const struct host *host, struct buf *out)
{
    const struct plan *p = s->books->plan;
    char text[200];
    buf_printf(out, "<section id=\"scenario\"><h2>Scenario</h2><dl>\n");
    snprintf(text, sizeof(text), "%s in %s %ss", text_count(p->nodes.n).s,
             text_count(p->groups.n).s, p->group_word);
    add_fact(out, "Nodes", text);
    snprintf(text, sizeof(text), "%s with %s pods, in %u classes", text_count(p->jobs.n).s,
             text_count(p->pods).s, p->classes.n);
    add_fact(out, "Jobs", text);
    snprintf(text, sizeof(text), "%llu", (unsigned long long)p->seed);
    add_fact(out, "Seed", text);
    add_fact(out, "Until", p->until_ms == INT64_MAX ? "all is done" : text_ms(p->until_ms).s);
    snprintf(text, sizeof(text), "%s: %s bound, %s refused, %s in error",
             text_count(s->engine.decisions).s, text_count(s->engine.bound).s,
             text_count(s->engine.refused).s, text_count(s->engine.failed).s);
    add_fact(out, "Decisions", text);
    snprintf(text, sizeof(text), "%s bindings and %s nodes failed, %s pods lost",
             text_count(s->books->bind_faults).s, text_count(s->books->node_faults).s,
             text_count(s->all.lost).s);
    add_fact(out, "Faults", text);
    if (host) {
        snprintf(text, sizeof(text), "%.2f s, %.1f MiB", host->wall_s,
                 (double)host->peak_bytes / (1 << 20));
        add_fact(out, "Real time, memory", text);
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

void report_html(const struct summary *s, const struct host *host, struct buf *out)
{
    add_head(s, out);
    add_tiles(s, host, out);
    chart_utilisation(s, out);
    chart_classes(s, out);
    chart_queue(s, out);
    chart_waits(s, out);
    chart_groups(s, out);
    add_classes(s, out);
    add_resources(s, out);
    add_complaints(s, out);
    add_facts(s, host, out);
    buf_printf(out,
               "<footer>Made by kubenexus simulate. Every figure comes from the scheduler that "
               "also runs in a cluster, in virtual time.</footer>\n"
               "</main>\n</body>\n</html>\n");
}

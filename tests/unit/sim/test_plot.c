#include "sim/plot.h"

#include "support/test.h"

static const char *drawn(struct buf *out)
{
    struct plot p;
    const double y[] = {0, 10, 5};
    plot_open(&p, out, 120, "rows", "a <label>");
    p.x_most = 30;
    p.y_most = 10;
    plot_y_axis(&p, " %");
    plot_x_tick(&p, 15, "mid", RARE);
    plot_line(&p, y, 3, 10, 30, 2);
    plot_bar(&p, 0, 15, 5, 1, STR("a & b"));
    plot_close(&p);
    buf_add_char(out, 0);
    return out->p;
}

TEST(plot, the_svg_is_stretched_and_its_labels_are_text_beside_it)
{
    AUTO(buf) out = {0};
    const char *text = drawn(&out);
    EXPECT(strstr(text, "viewBox=\"0 0 1000 1000\" preserveAspectRatio=\"none\""));
    EXPECT(!strstr(text, "<text"));
    EXPECT(strstr(text, "<span class=\"x r1\" style=\"left:50.00%\">mid</span>"));
    EXPECT(strstr(text, "<span class=\"y\" style=\"top:100.00%\">0 %</span>"));
    EXPECT(strstr(text, "aria-label=\"a &lt;label&gt;\""));
    EXPECT(strstr(text, "class=\"plot rows\" style=\"height:120px\""));
    EXPECT(strstr(text, "</svg>") < strstr(text, "<span"));
}

TEST(plot, values_fill_the_box_from_edge_to_edge)
{
    AUTO(buf) out = {0};
    const char *text = drawn(&out);
    EXPECT(strstr(text, "class=\"line s2\" points=\"0.0 1000.0 500.0 0.0 1000.0 500.0 \""));
    EXPECT(strstr(text, "x=\"0.0\" y=\"500.0\" width=\"500.0\" height=\"500.0\""));
    EXPECT(strstr(text, "<title>a &amp; b</title>"));
}

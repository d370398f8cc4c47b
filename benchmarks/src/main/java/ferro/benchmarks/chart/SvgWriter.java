package ferro.benchmarks.chart;

import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;

/** A writer of pictures as SVG. The colours of the SVG follow the light or dark style of the page. */
final class SvgWriter {
    private final Theme theme = Theme.load();
    private final StringBuilder svg = new StringBuilder();

    private SvgWriter() {}

    static String svg(ChartPicture picture) {
        return new SvgWriter().written(picture);
    }

    private String written(ChartPicture picture) {
        add(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%1$d\" height=\"%2$d\" role=\"img\">",
                picture.width(), picture.height());
        add("<title>%s</title>", escaped(picture.title()));
        add("<desc>%s</desc>", escaped(String.join(" ", picture.notes())));
        style(picture);
        add("<rect class=\"page\" width=\"%d\" height=\"%d\" rx=\"8\"/>", picture.width(), picture.height());
        marks(picture.frame());
        for (int panel = 0; panel < picture.panels().size(); panel++) {
            add("<g class=\"panel\">");
            marks(picture.around(panel));
            marks(picture.lines(panel));
            add("</g>");
        }
        return svg.append("</svg>\n").toString();
    }

    private void style(ChartPicture picture) {
        Set<String> colors = new TreeSet<>(Set.of("ink", "soft", "grid"));
        picture.panels()
                .forEach(panel ->
                        panel.lines().forEach(line -> colors.add(line.stroke().color())));
        add("<style>");
        add("text { font-family: %s }", theme.light("font"));
        for (PictureMark.TextRole style : PictureMark.TextRole.values()) {
            add(
                    ".%s { font-size: %dpx; font-weight: %d; fill: %s }",
                    name(style), style.size, style.bold ? 600 : 400, theme.light(style.color));
        }
        add(".page { fill: %s }", theme.light("page"));
        add("polyline { fill: none; stroke-linejoin: round }");
        colors.forEach(color -> add(".on-%s { stroke: %s }", color, theme.light(color)));
        add("@media (prefers-color-scheme: dark) {");
        for (PictureMark.TextRole style : PictureMark.TextRole.values()) {
            add(".%s { fill: %s }", name(style), theme.dark(style.color));
        }
        add(".page { fill: %s }", theme.dark("page"));
        colors.forEach(color -> add(".on-%s { stroke: %s }", color, theme.dark(color)));
        add("}");
        add("</style>");
    }

    private void marks(List<PictureMark> marks) {
        for (PictureMark mark : marks) {
            if (mark instanceof PictureMark.TextMark text) {
                String element = "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>";
                add(
                        element,
                        name(text.style()),
                        text.x(),
                        text.y(),
                        text.anchor().label(),
                        escaped(text.text()));
            } else if (mark instanceof PictureMark.StrokeMark stroke) {
                stroke(stroke);
            }
        }
    }

    private void stroke(PictureMark.StrokeMark stroke) {
        StringBuilder points = new StringBuilder();
        for (int i = 0; i < stroke.x().length; i++) {
            points.append(String.format(Locale.ROOT, "%s%.1f,%.1f", i > 0 ? " " : "", stroke.x()[i], stroke.y()[i]));
        }
        String dash = theme.light(stroke.stroke().medium().entry());
        add(
                "<polyline class=\"%s on-%s\" stroke-width=\"%s\"%s points=\"%s\"/>",
                stroke.role(),
                stroke.stroke().color(),
                PngWriter.width(stroke.role(), stroke.stroke()),
                dash.equals("none") ? "" : " stroke-dasharray=\"" + dash + "\"",
                points);
    }

    private static String name(PictureMark.TextRole style) {
        return style.name().toLowerCase(Locale.ROOT);
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }

    private void add(String format, Object... values) {
        svg.append(String.format(Locale.ROOT, format, values)).append('\n');
    }
}

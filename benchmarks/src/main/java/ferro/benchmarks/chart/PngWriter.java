package ferro.benchmarks.chart;

import ferro.benchmarks.chart.ChartLine.LineStroke;
import java.awt.BasicStroke;
import java.awt.Font;
import java.awt.Graphics2D;
import java.awt.RenderingHints;
import java.awt.geom.Path2D;
import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.List;
import javax.imageio.ImageIO;

/** A writer of pictures as PNG, with the colours of a light page and two pixels for each unit of length. */
final class PngWriter {
    private static final int SCALE = 2;

    private PngWriter() {}

    /** Draws a picture into memory, so that a machine that cannot draw leaves no empty file. */
    static byte[] png(ChartPicture picture) throws IOException {
        try {
            BufferedImage image =
                    new BufferedImage(SCALE * picture.width(), SCALE * picture.height(), BufferedImage.TYPE_INT_RGB);
            draw(picture, image.createGraphics(), Theme.load());
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            ImageIO.write(image, "png", bytes);
            return bytes.toByteArray();
        } catch (LinkageError | InternalError | RuntimeException noFonts) {
            // the type of exception depends on the JDK
            throw new IOException(
                    "this machine cannot draw text (" + noFonts + "): install fontconfig and a font", noFonts);
        }
    }

    private static void draw(ChartPicture picture, Graphics2D image, Theme theme) {
        image.setRenderingHint(RenderingHints.KEY_ANTIALIASING, RenderingHints.VALUE_ANTIALIAS_ON);
        image.setRenderingHint(RenderingHints.KEY_TEXT_ANTIALIASING, RenderingHints.VALUE_TEXT_ANTIALIAS_ON);
        image.setRenderingHint(RenderingHints.KEY_STROKE_CONTROL, RenderingHints.VALUE_STROKE_PURE);
        image.scale(SCALE, SCALE);
        image.setColor(theme.color("page"));
        image.fillRect(0, 0, picture.width(), picture.height());
        draw(picture.frame(), image, theme);
        for (int panel = 0; panel < picture.panels().size(); panel++) {
            draw(picture.around(panel), image, theme);
            new PanelPlot(picture.panels().get(panel), picture.left(panel), picture.top(panel)).paint(image, theme);
        }
        image.dispose();
    }

    private static void draw(List<PictureMark> marks, Graphics2D image, Theme theme) {
        for (PictureMark mark : marks) {
            if (mark instanceof PictureMark.TextMark text) {
                draw(text, image, theme);
            } else if (mark instanceof PictureMark.StrokeMark stroke) {
                image.setColor(theme.color(stroke.stroke().color()));
                image.setStroke(stroke(theme, stroke.role(), stroke.stroke()));
                Path2D path = new Path2D.Double();
                path.moveTo(stroke.x()[0], stroke.y()[0]);
                for (int i = 1; i < stroke.x().length; i++) {
                    path.lineTo(stroke.x()[i], stroke.y()[i]);
                }
                image.draw(path);
            }
        }
    }

    private static void draw(PictureMark.TextMark text, Graphics2D image, Theme theme) {
        image.setColor(theme.color(text.style().color));
        image.setFont(new Font(Font.SANS_SERIF, text.style().bold ? Font.BOLD : Font.PLAIN, text.style().size));
        int width = image.getFontMetrics().stringWidth(text.text());
        double left = switch (text.anchor()) {
            case START -> text.x();
            case MIDDLE -> text.x() - width / 2.0;
            case END -> text.x() - width;
        };
        image.drawString(text.text(), (float) left, (float) text.y());
    }

    static BasicStroke stroke(Theme theme, String role, LineStroke stroke) {
        float width = width(role, stroke);
        return new BasicStroke(width, BasicStroke.CAP_BUTT, BasicStroke.JOIN_ROUND, 10, theme.dash(stroke.medium()), 0);
    }

    /** Returns the width of a stroke. The lines of ferro are wider than other lines. */
    static float width(String role, LineStroke stroke) {
        if (!role.equals("line")) {
            return 1;
        }
        return stroke.color().equals("ferro") ? 3 : 2;
    }
}

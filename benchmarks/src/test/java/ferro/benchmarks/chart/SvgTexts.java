package ferro.benchmarks.chart;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.awt.geom.Rectangle2D;
import java.io.StringReader;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.InputSource;

/** What a reader meets in an SVG file: texts and where they are, and lines. */
public final class SvgTexts {
    /** Width of a letter by the size of its font; text in DejaVu Sans, the widest font of the list, is narrower. */
    private static final double LETTER = 0.62;

    private static final Pattern SIZE = Pattern.compile("\\.([a-z]+) \\{ font-size: (\\d+)px");

    private final Element root;
    private final Map<String, Integer> sizes = new TreeMap<>();

    public SvgTexts(String svg) throws Exception {
        DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
        root = factory.newDocumentBuilder()
                .parse(new InputSource(new StringReader(svg)))
                .getDocumentElement();
        Matcher size = SIZE.matcher(svg);
        while (size.find()) {
            sizes.put(size.group(1), Integer.parseInt(size.group(2)));
        }
    }

    private record Box(String text, Rectangle2D bounds) {}

    /** Returns the pairs of texts that overlap each other, and the texts that leave the picture. */
    public List<String> overlaps() {
        List<Box> boxes = boxes();
        Rectangle2D page = new Rectangle2D.Double(0, 0, number(root, "width"), number(root, "height"));
        List<String> found = new ArrayList<>();
        for (int i = 0; i < boxes.size(); i++) {
            if (!page.contains(boxes.get(i).bounds())) {
                found.add(boxes.get(i).text() + " leaves the picture");
            }
            for (int j = 0; j < i; j++) {
                if (boxes.get(i).bounds().intersects(boxes.get(j).bounds())) {
                    found.add(boxes.get(j).text() + " overlaps " + boxes.get(i).text());
                }
            }
        }
        return found;
    }

    public int maxLines() {
        int max = 0;
        for (Element panel : elements("g")) {
            int lines = 0;
            NodeList strokes = panel.getElementsByTagName("polyline");
            for (int i = 0; i < strokes.getLength(); i++) {
                lines += ((Element) strokes.item(i)).getAttribute("class").startsWith("line ") ? 1 : 0;
            }
            max = Math.max(max, lines);
        }
        assertTrue(max > 0, "no line in any panel");
        return max;
    }

    /** Returns the texts, and the classes of the strokes, in their order. */
    public List<String> structure() {
        List<String> structure = new ArrayList<>();
        elements("title").forEach(title -> structure.add("title " + title.getTextContent()));
        elements("text").forEach(text -> structure.add(text.getAttribute("class") + " " + text.getTextContent()));
        elements("polyline").forEach(stroke -> structure.add(stroke.getAttribute("class")));
        return structure;
    }

    /** Returns the points of the strokes, in their order: x and y in turn. */
    public List<double[]> points() {
        List<double[]> points = new ArrayList<>();
        for (Element stroke : elements("polyline")) {
            String[] numbers = stroke.getAttribute("points").trim().split("[ ,]+");
            points.add(Stream.of(numbers).mapToDouble(Double::parseDouble).toArray());
        }
        assertTrue(points.size() > 1, "no strokes");
        return points;
    }

    private List<Box> boxes() {
        List<Box> boxes = new ArrayList<>();
        for (Element text : elements("text")) {
            int size = sizes.get(text.getAttribute("class"));
            double width = LETTER * size * text.getTextContent().length();
            double left = switch (text.getAttribute("text-anchor")) {
                case "middle" -> number(text, "x") - width / 2;
                case "end" -> number(text, "x") - width;
                default -> number(text, "x");
            };
            double top = number(text, "y") - 0.8 * size;
            boxes.add(new Box(text.getTextContent(), new Rectangle2D.Double(left, top, width, size)));
        }
        assertTrue(boxes.size() > 1, "no texts");
        return boxes;
    }

    private List<Element> elements(String name) {
        NodeList nodes = root.getElementsByTagName(name);
        List<Element> elements = new ArrayList<>();
        for (int i = 0; i < nodes.getLength(); i++) {
            elements.add((Element) nodes.item(i));
        }
        return elements;
    }

    private static double number(Element element, String attribute) {
        return Double.parseDouble(element.getAttribute(attribute));
    }
}

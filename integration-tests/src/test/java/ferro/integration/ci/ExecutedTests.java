package ferro.integration.ci;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.SAXException;

/** The test methods, by the class that ran them, that reports of Surefire say were executed and not skipped. */
public record ExecutedTests(Map<String, Set<String>> methods) {
    private static final Pattern NO_PART_OF_A_NAME = Pattern.compile("\\W.*", Pattern.DOTALL);

    /** Reads all reports below a folder, whichever module or JDK they are of. */
    static ExecutedTests below(Path folder) throws IOException {
        Map<String, Set<String>> methods = new TreeMap<>();
        for (Element test : testCases(folder)) {
            if (test.getElementsByTagName("skipped").getLength() == 0) {
                methods.computeIfAbsent(test.getAttribute("classname"), key -> new TreeSet<>())
                        .add(method(test));
            }
        }
        return new ExecutedTests(methods);
    }

    public static String method(Element test) {
        return NO_PART_OF_A_NAME.matcher(test.getAttribute("name")).replaceFirst("");
    }

    /** Returns the test cases of all reports below a folder. */
    public static List<Element> testCases(Path folder) throws IOException {
        List<Path> reports;
        try (Stream<Path> files = Files.walk(folder)) {
            reports = files.filter(file -> file.getFileName().toString().matches("TEST-.*\\.xml"))
                    .filter(file -> file.getParent().endsWith("surefire-reports"))
                    .toList();
        }
        List<Element> all = new ArrayList<>();
        for (Path report : reports) {
            all.addAll(ofReport(report));
        }
        return all;
    }

    private static List<Element> ofReport(Path report) throws IOException {
        try {
            NodeList found = DocumentBuilderFactory.newInstance()
                    .newDocumentBuilder()
                    .parse(report.toFile())
                    .getElementsByTagName("testcase");
            List<Element> cases = new ArrayList<>();
            for (int each = 0; each < found.getLength(); each++) {
                cases.add((Element) found.item(each));
            }
            return cases;
        } catch (ParserConfigurationException | SAXException unreadable) {
            throw new IOException("cannot read the test report " + report, unreadable);
        }
    }
}

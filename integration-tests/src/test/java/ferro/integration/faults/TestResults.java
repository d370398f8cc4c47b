package ferro.integration.faults;

import ferro.integration.ci.ExecutedTests;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.w3c.dom.Element;

/** How often tests passed, failed and were skipped: from the reports of a build, kept in docs/faults/results.csv. */
final class TestResults {
    private static final String HEADER = "test,passed,failed,skipped";
    private final Map<String, int[]> counts = new TreeMap<>();

    static TestResults kept(Path file) throws IOException {
        TestResults results = new TestResults();
        for (String line : Files.readAllLines(file)) {
            String[] cells = line.split(",");
            if (!line.equals(HEADER)) {
                results.counts.put(cells[0], new int[] {number(cells[1]), number(cells[2]), number(cells[3])});
            }
        }
        return results;
    }

    /** Returns these with the reports of all modules in place of what they say otherwise. */
    TestResults with(Path checkout) throws IOException {
        TestResults reported = new TestResults();
        for (Element test : ExecutedTests.testCases(checkout)) {
            String type =
                    test.getAttribute("classname").replaceFirst(".*\\.", "").replaceFirst("\\$.*", "");
            String name = type + "#" + ExecutedTests.method(test);
            int[] count = reported.counts.computeIfAbsent(name, none -> new int[3]);
            boolean failed = has(test, "failure") || has(test, "error");
            count[failed ? 1 : has(test, "skipped") ? 2 : 0]++;
        }
        counts.putAll(reported.counts);
        return this;
    }

    private static boolean has(Element test, String kind) {
        return test.getElementsByTagName(kind).getLength() > 0;
    }

    void keep(Path file, Iterable<String> tests) throws IOException {
        StringBuilder text = new StringBuilder(HEADER).append('\n');
        for (String test : tests) {
            int[] count = counts.getOrDefault(test, new int[3]);
            text.append("%s,%d,%d,%d%n".formatted(test, count[0], count[1], count[2]));
        }
        Files.writeString(file, text);
    }

    /** Whether each of these tests has passed or was skipped, none has failed, and one has passed. */
    boolean arePassed(Iterable<String> tests) {
        int passed = 0;
        for (String test : tests) {
            int[] count = counts.getOrDefault(test, new int[3]);
            passed += count[0];
            if (count[1] > 0 || count[0] + count[2] == 0) {
                return false;
            }
        }
        return passed > 0;
    }

    String inWords(Iterable<String> tests) {
        int[] sum = new int[3];
        for (String test : tests) {
            int[] count = counts.getOrDefault(test, new int[3]);
            for (int kind = 0; kind < sum.length; kind++) {
                sum[kind] += count[kind];
            }
        }
        List<String> words = new ArrayList<>();
        words.add(sum[0] + " passed");
        if (sum[1] > 0) {
            words.add("**" + sum[1] + " failed**");
        }
        if (sum[2] > 0) {
            words.add(sum[2] + " skipped");
        }
        return String.join(", ", words);
    }

    private static int number(String text) {
        return Integer.parseInt(text);
    }
}

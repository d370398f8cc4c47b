package ferro.integration.faults;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** How often tests passed, failed and were skipped: from the reports of a build, kept in docs/faults/results.csv. */
final class TestResults {
    private static final String HEADER = "test,passed,failed,skipped";
    private static final Pattern CASE =
            Pattern.compile("<testcase name=\"(\\w+)[^\"]*\" classname=\"([^\"]+)\"[^>]*?(/?)>");

    private final Map<String, int[]> counts = new TreeMap<>();

    /** Reads what was kept. */
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
        for (Path report : reports(checkout)) {
            reported.add(Files.readString(report));
        }
        counts.putAll(reported.counts);
        return this;
    }

    private static List<Path> reports(Path checkout) throws IOException {
        List<Path> found = new ArrayList<>();
        try (Stream<Path> modules = Files.list(checkout)) {
            for (Path folder : modules.map(module -> module.resolve("target/surefire-reports"))
                    .filter(Files::isDirectory)
                    .toList()) {
                try (Stream<Path> files = Files.list(folder)) {
                    files.filter(file -> file.getFileName().toString().matches("TEST-.*\\.xml"))
                            .forEach(found::add);
                }
            }
        }
        return found;
    }

    private void add(String report) {
        Matcher test = CASE.matcher(report);
        while (test.find()) {
            String type = test.group(2).replaceFirst(".*\\.", "").replaceFirst("\\$.*", "");
            int[] count = counts.computeIfAbsent(type + "#" + test.group(1), name -> new int[3]);
            String body = test.group(3).isEmpty()
                    ? report.substring(test.end(), report.indexOf("</testcase>", test.end()))
                    : "";
            boolean failed = body.contains("<failure") || body.contains("<error");
            count[failed ? 1 : body.contains("<skipped") ? 2 : 0]++;
        }
    }

    /** Writes those of these tests. */
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

    /** Returns in words how these tests ended. */
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

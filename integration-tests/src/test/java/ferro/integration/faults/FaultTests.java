package ferro.integration.faults;

import ferro.integration.NamedTests;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The tests that name rows, the modules that run them, and with them the back ends on which a row is shown. */
final class FaultTests {
    /** At the beginning of a name, several behind commas, a colon behind the last. */
    private static final Pattern ROW = Pattern.compile("(?<=^|, )row \\d+(?=, row|:)");

    private static final Pattern TYPE = Pattern.compile("\\bclass (\\w+)(?: extends (\\w+))?");
    private static final String TCP = "tcp";
    /** Back end tcp over shared memory. */
    private static final String SHARED = "shm";

    private static final String SIMULATED = "simulated";
    private static final String PAIR = "pair";

    /** How a test of all modules asks for a medium; where it does by {@code Links}, ranks say that they have found it. */
    private static final Map<Pattern, String> ASKED_FOR = Map.of(
            Pattern.compile("\\bLinks\\.TCP\\b|\"tcp\""), TCP,
            Pattern.compile("\\bLinks\\.SHM\\b|\"shm\""), SHARED,
            Pattern.compile("\\.simulated\\b|\"simulated\"|\\bSimulation\\b|\\bSIMULATED\\b"), SIMULATED,
            Pattern.compile("\\bStandInPair\\b"), PAIR);

    private static final Map<String, String> BACK_ENDS = Map.of(
            "spi", "every",
            "control", "the engine",
            "collectives", "the engine",
            "tck", "every",
            "backend-simulated", SIMULATED,
            "backend-tcp", TCP,
            "backend-shm", SHARED,
            "backend-nccl", "nccl (stand-in)",
            "backend-gloo-fallback", PAIR,
            "launcher", "launcher");

    private final NamedTests tests;
    private final Map<String, String> moduleByType = new HashMap<>();
    private final Map<String, Set<String>> askedForByType = new HashMap<>();
    private final Map<String, Set<String>> subtypes = new HashMap<>();

    private FaultTests(NamedTests tests) {
        this.tests = tests;
    }

    static FaultTests of(Path checkout) throws IOException {
        FaultTests found = new FaultTests(NamedTests.of(checkout, ROW));
        for (Path source : NamedTests.sources(checkout)) {
            String text = Files.readString(source);
            found.add(checkout.relativize(source), text);
            found.addTypes(text);
        }
        return found;
    }

    private void add(Path source, String text) {
        String type = source.getFileName().toString().replaceFirst("\\.java$", "");
        moduleByType.put(type, source.getName(0).toString());
        Set<String> asked = new TreeSet<>();
        ASKED_FOR.forEach((pattern, label) -> {
            if (pattern.matcher(text).find()) {
                asked.add(label);
            }
        });
        askedForByType.put(type, asked);
    }

    private void addTypes(String text) {
        Matcher type = TYPE.matcher(text);
        while (type.find()) {
            if (type.group(2) != null) {
                subtypes.computeIfAbsent(type.group(2), name -> new HashSet<>()).add(type.group(1));
            }
        }
    }

    List<String> naming(int row) {
        return tests.naming("row " + row, "").stream().sorted().toList();
    }

    Set<String> all() {
        Set<String> all = new TreeSet<>();
        tests.idsByTest().forEach((test, rows) -> {
            if (!rows.isEmpty()) {
                all.add(test);
            }
        });
        return all;
    }

    /** Returns the back ends that these tests run on, by the modules of the classes that run them, or what those ask for. */
    Set<String> backEnds(List<String> named) {
        Set<String> found = new TreeSet<>();
        for (String test : named) {
            for (String type : runners(test)) {
                found.addAll(backEnds(type));
            }
        }
        return found;
    }

    /** Returns a test as each class runs it that inherits it, or as its own class does. */
    List<String> running(String test) {
        return runners(test).stream()
                .map(type -> type + test.substring(test.indexOf('#')))
                .toList();
    }

    Set<String> runners(String test) {
        String type = test.substring(0, test.indexOf('#'));
        Set<String> below = new TreeSet<>();
        collect(type, below);
        return below.isEmpty() ? Set.of(type) : below;
    }

    private void collect(String type, Set<String> below) {
        for (String subtype : subtypes.getOrDefault(type, Set.of())) {
            if (moduleByType.containsKey(subtype) && below.add(subtype)) {
                collect(subtype, below);
            }
        }
    }

    /** Tests of one module run on it; those of all modules together on what their sources ask for, else on TCP between hosts. */
    private Set<String> backEnds(String type) {
        String module = moduleByType.getOrDefault(type, "");
        if (!module.equals("integration-tests")) {
            boolean pair = type.contains("Routed") || type.contains("Pair");
            return Set.of(pair ? PAIR : BACK_ENDS.getOrDefault(module, module));
        }
        return askedForByType.get(type).isEmpty() ? Set.of(TCP) : askedForByType.get(type);
    }
}

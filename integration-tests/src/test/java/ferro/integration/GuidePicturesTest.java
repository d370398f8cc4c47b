package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.ReduceOp;
import ferro.Work;
import ferro.backend.simulated.SimulatedBackend;
import ferro.group.ProcessGroup;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The pictures of collectives in docs/images/guide, which {@code config/pictures/Pictures.java} draws from calls.csv. */
class GuidePicturesTest {
    private static final Path FOLDER = Path.of("../docs/images/guide");
    private static final int RANKS = 3;

    @TempDir
    private Path folder;

    @Test
    void theCommittedPicturesAreThoseThatTheCommandDraws() throws Exception {
        Path classes = Files.createDirectory(folder.resolve("classes"));
        Path drawn = Files.createDirectory(folder.resolve("drawn"));
        Path calls = Files.copy(FOLDER.resolve("calls.csv"), drawn.resolve("calls.csv"));
        Path images = Files.createDirectory(folder.resolve("images"));
        Path overview = Files.copy(FOLDER.resolve("../overview.csv"), images.resolve("overview.csv"));
        Path theme = Path.of("../config/theme/theme.css").toAbsolutePath();

        ConfigProgram.Run run = ConfigProgram.compile("config/pictures/Pictures.java", classes)
                .run(folder, theme.toString(), calls.toString(), overview.toString());

        assertEquals(0, run.exit(), run::text);
        String again = "draw again with: java config/pictures/Pictures.java";
        Map<String, String> committed = pictures(FOLDER);
        assertEquals(pictures(drawn).keySet(), committed.keySet(), again);
        pictures(drawn).forEach((name, svg) -> assertEquals(svg, committed.get(name), again));
        assertEquals(
                Files.readString(images.resolve("overview.svg")),
                Files.readString(FOLDER.resolve("../overview.svg")),
                again);
    }

    @Test
    void everyPictureHasATitle() throws IOException {
        pictures(FOLDER)
                .forEach((name, svg) -> assertTrue(svg.contains("<title>group.") || svg.contains("<title>send"), name));
    }

    @Test
    void theCallsTurnThePicturedInputIntoThePicturedResult() throws IOException {
        Map<String, Map<String, List<String>>> rows = rows();
        Set<String> shown = new TreeSet<>();
        rows.forEach((picture, parts) -> {
            if (parts.containsKey("before")) {
                List<int[]> before = parts.get("before").stream()
                        .map(GuidePicturesTest::numbers)
                        .toList();
                List<int[]> after = parts.get("after").stream()
                        .map(GuidePicturesTest::numbers)
                        .toList();
                SimulatedBackend.run(RANKS, group -> {
                    int rank = group.rank();
                    int[] result = called(picture, group, before.get(rank), after.get(rank));
                    assertEquals(Arrays.toString(after.get(rank)), Arrays.toString(result), picture + " rank " + rank);
                });
                shown.add(picture);
            }
        });
        assertEquals(11, shown.size(), shown::toString);
    }

    @Test
    void thePageShowsEveryPicture() throws IOException {
        String page = Files.readString(Path.of("../docs/guide/think-in-ranks.md"));
        for (String picture : rows().keySet()) {
            assertTrue(page.contains("(../images/guide/" + picture + ".svg)"), picture);
        }
    }

    /** Makes the call of a picture, with arrays of the lengths of the picture, and returns its result on this rank. */
    private static int[] called(String picture, ProcessGroup group, int[] before, int[] after) {
        int[] data = before.clone();
        int[] out = new int[after.length];
        switch (picture) {
            case "broadcast" -> group.broadcast(data, 0);
            case "reduce" -> group.reduce(data, ReduceOp.SUM, 0);
            case "all-reduce" -> group.allReduce(data, ReduceOp.SUM);
            case "gather" -> group.gather(data, out, 0);
            case "all-gather" -> group.allGather(data, out);
            case "scatter" -> group.scatter(data, out, 0);
            case "reduce-scatter" -> group.reduceScatter(data, out, ReduceOp.SUM);
            case "all-to-all" -> group.allToAll(data, out);
            case "scan" -> group.scan(data, ReduceOp.SUM);
            case "exclusive-scan" -> group.exclusiveScan(data, ReduceOp.SUM);
            case "send-and-receive" -> {
                Work sent = group.sendAsync(data, (group.rank() + 1) % RANKS, 0);
                group.recv(out, (group.rank() + RANKS - 1) % RANKS, 0);
                sent.await();
            }
            default -> throw new IllegalArgumentException("no call for picture " + picture);
        }
        boolean isInPlace = Set.of("broadcast", "reduce", "all-reduce", "scan", "exclusive-scan")
                .contains(picture);
        return isInPlace ? data : out;
    }

    /** Returns the numbers of elements such as {@code 111@012}; 0 for an element that the call ignores. */
    private static int[] numbers(String elements) {
        return Stream.of(elements.split(" "))
                .filter(element -> !element.isEmpty())
                .mapToInt(element -> element.equals("-") ? 0 : Integer.parseInt(element.replaceAll("@.*", "")))
                .toArray();
    }

    private static Map<String, Map<String, List<String>>> rows() throws IOException {
        Map<String, Map<String, List<String>>> rows = new TreeMap<>();
        List<String> lines = Files.readAllLines(FOLDER.resolve("calls.csv"));
        for (String line : lines.subList(1, lines.size())) {
            String[] fields = line.split(",", 4);
            rows.computeIfAbsent(fields[0], none -> new TreeMap<>())
                    .computeIfAbsent(fields[1], none -> new ArrayList<>())
                    .add(fields[3]);
        }
        return rows;
    }

    private static Map<String, String> pictures(Path folder) throws IOException {
        Map<String, String> pictures = new TreeMap<>();
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file :
                    files.filter(one -> one.toString().endsWith(".svg")).toList()) {
                pictures.put(file.getFileName().toString(), Files.readString(file));
            }
        }
        assertTrue(pictures.size() > 5, pictures.keySet()::toString);
        return pictures;
    }
}

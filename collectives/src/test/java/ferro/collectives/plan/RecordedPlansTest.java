package ferro.collectives.plan;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.collectives.plan.Algorithm.Topology;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Plans are equal to the plans that plans.csv recorded. A row of plans.csv has the digest of the plans of all ranks, for
 * several roots and layouts of hosts. The test writes such a file with {@code -Dferro.plans=FILE}.
 */
class RecordedPlansTest {
    private static final String FILE = "plans.csv";
    private static final int DIGEST_BYTES = 8;
    /** Number of rows of the file, so that a file with fewer rows does not pass. */
    private static final int ROWS = 21 * 66 + 7 * 63;

    @Test
    void plansOfUpTo64RanksEqualTheRecordedPlans() throws IOException {
        Map<String, String> made = made();
        String target = System.getProperty("ferro.plans", "");
        if (!target.isEmpty()) {
            Files.writeString(Path.of(target), text(made));
        }
        Map<String, String> recorded = recorded();
        assertEquals(ROWS, recorded.size());
        List<String> changed = recorded.entrySet().stream()
                .filter(row -> !row.getValue().equals(made.get(row.getKey())))
                .map(row -> row.getKey() + ": recorded " + row.getValue() + ", made " + made.get(row.getKey()))
                .toList();
        assertTrue(changed.isEmpty(), () -> changed.size() + " of " + ROWS + " rows differ: " + changed);
    }

    private static String text(Map<String, String> rows) {
        return rows.entrySet().stream()
                .map(row -> row.getKey() + ',' + row.getValue() + '\n')
                .collect(Collectors.joining("", "kind,algorithm,ranks,digest\n", ""));
    }

    private static Map<String, String> recorded() throws IOException {
        try (InputStream file = RecordedPlansTest.class.getResourceAsStream(FILE)) {
            return new String(file.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .skip(1)
                    .collect(Collectors.toMap(
                            line -> line.substring(0, line.lastIndexOf(',')),
                            line -> line.substring(line.lastIndexOf(',') + 1)));
        }
    }

    private static Map<String, String> made() {
        Map<String, String> rows = new TreeMap<>();
        for (Algorithm algorithm : Algorithm.all()) {
            List<Integer> sizes = IntStream.rangeClosed(1, 64).boxed().collect(Collectors.toCollection(ArrayList::new));
            sizes.add(100);
            if (algorithm.topology() == Topology.FLAT) {
                sizes.add(257);
                sizes.forEach(size -> rows.put(row(algorithm, size), digest(algorithm, size, flat())));
            } else if (algorithm.topology() == Topology.HOSTS) {
                sizes.removeAll(List.of(1, 2));
                sizes.forEach(size -> rows.put(row(algorithm, size), digest(algorithm, size, layouts(size))));
            }
        }
        return rows;
    }

    private static String row(Algorithm algorithm, int size) {
        return algorithm.kind() + "," + algorithm.label() + ',' + (size < 10 ? "00" : size < 100 ? "0" : "") + size;
    }

    /** Returns one missing layout, for plans that know no hosts. */
    private static List<Hosts> flat() {
        return Arrays.asList((Hosts) null);
    }

    /** Returns layouts of ranks on hosts: in turn, in blocks, with one large host, and as drawn from a seed. */
    private static List<Hosts> layouts(int size) {
        int few = Math.max(2, size / 8);
        int half = Math.max(2, size / 2);
        Random drawn = new Random(size);
        return Stream.of(
                        IntStream.range(0, size).map(rank -> rank % half),
                        IntStream.range(0, size).map(rank -> rank * few / size),
                        IntStream.range(0, size).map(rank -> Math.max(0, rank - (size - half))),
                        IntStream.range(0, size).map(rank -> drawn.nextInt(5)))
                .map(IntStream::toArray)
                .map(hostOf -> Hosts.of(size, (a, b) -> hostOf[a] == hostOf[b]))
                .flatMap(Optional::stream)
                .toList();
    }

    private static String digest(Algorithm algorithm, int size, List<Hosts> layouts) {
        MessageDigest digest = sha256();
        for (Hosts hosts : layouts) {
            for (int root : algorithm.kind().isRooted()
                    ? new TreeSet<>(List.of(0, 1 % size, size / 2, size - 1))
                    : List.of(0)) {
                for (int rank = 0; rank < size; rank++) {
                    digest.update(text(algorithm.plan(rank, size, root, hosts)).getBytes(StandardCharsets.UTF_8));
                }
            }
        }
        return HexFormat.of().formatHex(digest.digest(), 0, DIGEST_BYTES);
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException missing) {
            throw new IllegalStateException("every JDK has SHA-256", missing);
        }
    }

    private static String text(Plan plan) {
        StringBuilder text = new StringBuilder(plan.algorithm()).append(' ').append(plan.chunkCount());
        for (ChunkExtent extent : List.of(plan.in(), plan.out(), plan.scratch())) {
            text.append(' ').append(extent.first()).append('+').append(extent.count());
        }
        plan.sends().forEach(send -> add(text.append("\nsend to ").append(send.peer()), send));
        plan.receives().forEach(arrival -> add(text.append(kind(arrival)), arrival));
        return text.append('\n').toString();
    }

    private static String kind(Step.WriteStep arrival) {
        if (arrival instanceof Step.Receive receive) {
            return "\nreceive from " + receive.peer();
        }
        if (arrival instanceof Step.ReceiveCombine combine) {
            return "\nreceive from " + combine.peer() + (combine.completes() ? " complete" : " combine");
        }
        if (arrival instanceof Step.LocalCombine combine) {
            return "\ncombine " + combine.from() + (combine.completes() ? " complete" : "");
        }
        return "\ncopy " + ((Step.LocalCopy) arrival).from();
    }

    private static void add(StringBuilder text, Step step) {
        text.append(' ').append(step.region());
        text.append(' ').append(step.chunk()).append('+').append(step.chunks());
        text.append(" after ").append(step.afterSends()).append(' ').append(step.afterReceives());
    }
}

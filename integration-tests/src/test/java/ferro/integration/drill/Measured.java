package ferro.integration.drill;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;
import org.junit.jupiter.api.function.Executable;

/** What the survivors of one fault said, and how soon; written to a file before anything is asserted. */
public final class Measured {
    private static final Path FOLDER = Path.of("target", Drill.whole() ? "drill-whole" : "drill");
    private static final String HEADER =
            "row,fault,medium,load,heap_mib,ranks,cores,victims,round,rank,millis,promised_millis,code,culprits,settled,paused_millis";
    private static final double NANOS_PER_MILLI = 1e6;

    private final Cell cell;
    private double promisedMillis;
    private final Map<Integer, Line> failed = new TreeMap<>();
    private final Map<Integer, Line> settled = new TreeMap<>();
    private final Map<Integer, Double> millis = new TreeMap<>();

    private Measured(Cell cell) {
        this.cell = cell;
        this.promisedMillis = cell.promisedMillis();
    }

    public static void begin(Class<?> test) throws IOException {
        Files.createDirectories(FOLDER);
        Files.writeString(file(test), HEADER + "\n");
    }

    /** Reads how a call ended on all ranks but the victims, after a fault that happened at this time. */
    static Measured of(Cell cell, DrillJob job, long at) throws InterruptedException {
        Measured measured = new Measured(cell);
        for (Map.Entry<Integer, RankJvm> survivor : job.but(cell.victims()).entrySet()) {
            measured.add(survivor.getKey(), survivor.getValue().awaitTag("failed"), at);
        }
        return measured;
    }

    public static Measured nothing(Cell cell) {
        return new Measured(cell);
    }

    /** Promises another time than the cell. */
    Measured promised(double another) {
        promisedMillis = another;
        return this;
    }

    /** Notes what a rank said of a fault that happened at this time. */
    public void add(int rank, Line said, long at) {
        failed.put(rank, said);
        millis.put(rank, (said.number("at") - at) / NANOS_PER_MILLI);
    }

    /** Reads the failures of the groups 100 ms later. */
    Measured settle(DrillJob job) throws InterruptedException {
        for (Map.Entry<Integer, RankJvm> survivor : job.but(cell.victims()).entrySet()) {
            settled.put(survivor.getKey(), survivor.getValue().awaitTag("settled"));
        }
        return this;
    }

    /** Appends one line a survivor to the file of a test class. */
    public Measured write(Class<?> test) throws IOException {
        List<String> lines = new ArrayList<>();
        failed.forEach((rank, said) -> lines.add(String.join(
                ",",
                "" + cell.fault().row(),
                cell.fault().toString(),
                cell.medium().toString(),
                cell.load().name().toLowerCase(Locale.ROOT),
                "" + cell.heapMiB(),
                "" + DrillJob.WORLD_SIZE,
                "" + Drill.cores(),
                words(cell.victims()),
                "" + cell.round(),
                "" + rank,
                rounded("%.1f", millis.get(rank)),
                rounded("%.0f", promisedMillis),
                said.values().getOrDefault("code", "-"),
                said.values().getOrDefault("culprits", "").replace(',', ' ').strip(),
                settled.containsKey(rank) ? settled.get(rank).cause().replace(",", "") : "-",
                rounded("%.0f", said.values().containsKey("paused") ? said.number("paused") / NANOS_PER_MILLI : 0))));
        Files.write(file(test), lines, StandardOpenOption.APPEND);
        System.out.printf(Locale.ROOT, "drill: %s: %s ms, promised %.0f%n", cell, millis.values(), promisedMillis);
        return this;
    }

    /** Every survivor has failed with this code, blames these ranks and no other, and was in time. */
    void check(String code, DrillJob job) {
        check(code, job, blamed -> blamed.equals(cell.victims()));
    }

    /** The same for what is found out by asking: one that is kept from its core for long may not have answered in time. */
    void checkBlamedAmongOthers(String code, DrillJob job) {
        int more = Drill.whole() ? 0 : 1;
        int most = cell.victims().size() + more;
        check(code, job, blamed -> blamed.containsAll(cell.victims()) && blamed.size() <= most);
    }

    private void check(String code, DrillJob job, Predicate<List<Integer>> blamed) {
        List<Executable> checks = new ArrayList<>();
        failed.forEach((rank, said) -> {
            checks.add(() -> assertEquals(code, said.value("code"), () -> "rank " + rank + ": " + said));
            checks.add(() -> assertTrue(blamed.test(said.culprits()), () -> "rank " + rank + ": " + said));
        });
        checks.add(this::checkTimes);
        checks.add(this::checkAgreement);
        checks.add(job::assertNothingWrong);
        assertAll(cell + "\n" + job, checks);
    }

    /** Nobody was later than promised, in CI not much later, and nobody knew before it happened: that would be no measurement. */
    void checkTimes() {
        checkTimes(Drill.allowedMillis(promisedMillis));
    }

    /** The same where so much is allowed here. */
    public void checkTimes(double allowed) {
        assertTrue(millis.values().stream().allMatch(each -> each >= 0), () -> cell + ": before the fault: " + millis);
        double worst = millis.values().stream().mapToDouble(each -> each).max().orElseThrow();
        assertTrue(worst <= allowed, () -> cell + ": promised " + promisedMillis + " ms, took " + millis);
    }

    void checkAgreement() {
        assertTrue(
                settled.values().stream().map(Line::cause).distinct().count() <= 1,
                () -> cell + ": survivors do not agree: " + settled);
    }

    List<Line> settled() {
        return List.copyOf(settled.values());
    }

    public Map<Integer, Line> failed() {
        return failed;
    }

    private static Path file(Class<?> test) {
        return FOLDER.resolve(test.getSimpleName() + ".csv");
    }

    private static String rounded(String format, double value) {
        return String.format(Locale.ROOT, format, value);
    }

    private static String words(List<Integer> ranks) {
        return ranks.toString().replaceAll("[\\[\\],]", "");
    }
}

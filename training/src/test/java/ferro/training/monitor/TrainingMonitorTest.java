package ferro.training.monitor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.Work;
import ferro.group.ProcessGroup;
import ferro.training.StepTimes;
import ferro.training.TrainingRanks;
import ferro.training.TrainingRanks.Over;
import ferro.training.monitor.TrainingReport.SlowestRank;
import ferro.training.monitor.TrainingReport.TimeShares;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class TrainingMonitorTest {
    private static final long SECOND = 1_000_000_000;

    @TempDir
    private Path folder;

    /** The seconds of a step, how many of them are spent waiting, and how many hide communication. */
    private record Spent(int seconds, int waited, int hidden) {}

    /** A monitor of one rank, its clock, and what it reports. */
    private static final class Watched {
        final AtomicLong nanos = new AtomicLong(77);
        final List<TrainingReport> reports = new ArrayList<>();
        final ProcessGroup group;
        final TrainingMonitorBuilder builder;
        private TrainingMonitor monitor;

        Watched(ProcessGroup group, int reportEvery, String... metrics) {
            this.group = group;
            builder = TrainingMonitor.builder(group)
                    .clock(nanos::get)
                    .reportEvery(reportEvery)
                    .metrics(metrics)
                    .listener(reports::add);
        }

        TrainingMonitor monitor() {
            if (monitor == null) {
                monitor = builder.build();
            }
            return monitor;
        }

        void step(Spent time, long samples, double loss, double... metrics) {
            TrainingMonitor own = monitor();
            nanos.addAndGet(time.seconds() * SECOND);
            own.step(samples, loss, Duration.ofSeconds(time.waited()), Duration.ofSeconds(time.hidden()), metrics);
        }
    }

    /** Each step takes 10 s; rank r of n computes 10 - (n - 1 - r) s of it, and the others wait for the last one. */
    private static List<TrainingReport> unevenSteps(ProcessGroup group) {
        int rank = group.rank();
        Watched watched = new Watched(group, 2, "accuracy", "recall");
        for (int step = 0; step < 5; step++) {
            watched.step(new Spent(10, group.worldSize() - 1 - rank, 2), rank + 1, 2 + rank + step, 0.5, rank);
        }
        watched.monitor().finish();
        return watched.reports;
    }

    @ParameterizedTest(name = "{1} ranks over {0}")
    @MethodSource("ferro.training.TrainingRanks#everywhere")
    void aReportHasTheNumbersOfAllRanks(Over medium, int worldSize) {
        List<List<TrainingReport>> found = TrainingRanks.run(medium, worldSize, TrainingMonitorTest::unevenSteps);

        found.forEach(each -> assertEquals(found.get(0), each));
        List<TrainingReport> reports = found.get(0);
        assertEquals(
                List.of(2L, 4L, 5L), reports.stream().map(TrainingReport::step).toList());
        int n = worldSize;
        double samples = n * (n + 1) / 2.0;
        double recall = n * (n + 1) * (n - 1) / 3.0 / samples;
        double waiting = (n - 1) / 20.0;
        for (int i = 0; i < 3; i++) {
            TrainingReport report = reports.get(i);
            int steps = i == 2 ? 1 : 2;
            assertEquals((long) samples * steps, report.samples());
            assertEquals(samples / 10, report.samplesPerSecond(), 1e-9);
            assertEquals(2 + recall + 2 * i + (steps - 1) / 2.0, report.loss(), 1e-9);
            assertEquals(Map.of("accuracy", 0.5, "recall", report.metrics().get("recall")), report.metrics());
            assertEquals(recall, report.metrics().get("recall"), 1e-9);
            assertEquals(Duration.ofSeconds(10 * report.step()), report.elapsed());
            assertEquals(waiting, report.time().waiting(), 1e-9);
            assertEquals(1 - waiting, report.time().computing(), 1e-9);
            assertEquals(0.2, report.time().hidden(), 1e-9);
            assertEquals(n - 1, report.slowest().rank());
            assertEquals(n == 1 ? 0 : 10 / (10 - n / 2.0) - 1, report.slowest().more(), 1e-9);
        }
        double smoothed = (0.09 * reports.get(0).loss() + 0.1 * reports.get(1).loss()) / 0.19;
        assertEquals(reports.get(0).loss(), reports.get(0).smoothedLoss(), 1e-9);
        assertEquals(smoothed, reports.get(1).smoothedLoss(), 1e-9);
    }

    @Test
    void oneCallIsMadePerIntervalAndNoneBetween() {
        TrainingRanks.run(Over.SIMULATED, 2, group -> {
            Watched watched = new Watched(group, 3);
            watched.monitor();
            List<Long> calls = new ArrayList<>();
            for (int step = 0; step < 6; step++) {
                long before = sequence(group);
                watched.step(new Spent(1, 0, 0), 1, 1);
                calls.add(sequence(group) - before - 1);
            }
            watched.monitor().finish();
            assertEquals(List.of(0L, 0L, 1L, 0L, 0L, 1L), calls);
            assertEquals(2, watched.reports.size());
            return null;
        });
    }

    private static long sequence(ProcessGroup group) {
        Work barrier = group.barrierAsync();
        barrier.await();
        return barrier.sequence();
    }

    @Test
    void ranksThatHaveRunOutTakePart() {
        TrainingRanks.run(Over.SIMULATED, 3, group -> {
            Watched watched = new Watched(group, 1, "recall");
            watched.monitor();
            if (group.rank() == 1) {
                watched.nanos.addAndGet(12 * SECOND);
                watched.monitor().takePartWithoutData();
            } else {
                watched.step(new Spent(12, 2 * group.rank(), 0), 4, 3 + group.rank(), 0.25);
            }
            watched.monitor().takePartWithoutData();

            TrainingReport first = watched.reports.get(0);
            assertEquals(8, first.samples());
            assertEquals(4, first.loss());
            assertEquals(Map.of("recall", 0.25), first.metrics());
            assertEquals(16.0 / 36, first.time().waiting(), 1e-9);
            assertEquals(new SlowestRank(0, 0.5), first.slowest());
            TrainingReport second = watched.reports.get(1);
            assertEquals(0, second.samples());
            assertEquals(Double.NaN, second.loss());
            assertEquals(4, second.smoothedLoss(), 1e-9);
            return null;
        });
    }

    @Test
    void theTimesOfAStepAreItsWaitingAndItsHiddenTime() {
        TrainingRanks.run(Over.SIMULATED, 1, group -> {
            Watched watched = new Watched(group, 1);
            watched.monitor();
            watched.nanos.addAndGet(10 * SECOND);
            watched.monitor().step(1, 1, new StepTimes(Duration.ofSeconds(2), Duration.ofSeconds(3)));

            assertEquals(new TimeShares(0.8, 0.3, 0.2), watched.reports.get(0).time());
            return null;
        });
    }

    /** The time of the exchange belongs to the next interval, as communication that nothing hides. */
    @Test
    void theExchangeItselfCountsAsWaiting() {
        TrainingRanks.run(Over.SIMULATED, 1, group -> {
            AtomicLong nanos = new AtomicLong();
            List<TrainingReport> reports = new ArrayList<>();
            TrainingMonitor monitor = TrainingMonitor.builder(group)
                    .clock(() ->
                            nanos.addAndGet(SECOND)) // every look takes a second: at the making, then two per report
                    .reportEvery(1)
                    .listener(reports::add)
                    .build();
            monitor.step(1, 1, Duration.ZERO, Duration.ZERO);
            monitor.step(1, 1, Duration.ZERO, Duration.ZERO);

            assertEquals(new TimeShares(1, 0, 0), reports.get(0).time());
            assertEquals(new TimeShares(0.5, 0, 0.5), reports.get(1).time());
            return null;
        });
    }

    @Test
    void theExchangeCountsOnceForARankThatHasRunOut() {
        TrainingRanks.run(Over.SIMULATED, 1, group -> {
            AtomicLong nanos = new AtomicLong();
            List<TrainingReport> reports = new ArrayList<>();
            TrainingMonitor monitor = TrainingMonitor.builder(group)
                    .clock(() ->
                            nanos.addAndGet(SECOND)) // one look per step, one more when a report has been exchanged
                    .reportEvery(2)
                    .listener(reports::add)
                    .build();
            monitor.step(1, 1, Duration.ZERO, Duration.ZERO);
            monitor.step(1, 1, Duration.ZERO, Duration.ZERO);
            monitor.takePartWithoutData();
            monitor.step(1, 1, Duration.ZERO, Duration.ZERO);

            assertEquals(2 / 3.0, reports.get(1).time().waiting(), 1e-9);
            return null;
        });
    }

    @Test
    void aRankWithoutSamplesIsNotTheSlowest() {
        TrainingRanks.run(Over.SIMULATED, 2, group -> {
            Watched watched = new Watched(group, 1);
            watched.step(new Spent(10, 5 - 5 * group.rank(), 0), 1 - group.rank(), 2.5);

            assertEquals(new SlowestRank(0, 0), watched.reports.get(0).slowest());
            return null;
        });
    }

    private static PrintStream into(ByteArrayOutputStream bytes) {
        return new PrintStream(bytes, true, StandardCharsets.UTF_8);
    }

    @Test
    void aPipeGetsALinePerReportOfRankZeroAlone() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        PrintStream pipe = into(bytes);
        TrainingRanks.run(Over.SIMULATED, 2, group -> {
            Watched watched = new Watched(group, 2, "recall");
            watched.builder.lines(pipe).totalSteps(2000).stepsBefore(1000);
            watched.step(new Spent(10, 1 - group.rank(), 2), 3000, 2.25, 0.5);
            watched.step(new Spent(10, 1 - group.rank(), 2), 3000, 2.75, 0.5);
            watched.step(new Spent(10, 0, 0), 3000, 2, 0.25);
            watched.monitor().finish();
            return null;
        });
        assertEquals(
                List.of(
                        "step 1,002 of 2,000  loss 2.5000 (smoothed 2.5000)  600 samples/s  computing 95 %, communicating 20 %"
                                + " hidden, 5 % not hidden  slowest rank 1 (+11 %)  recall 0.5000",
                        "step 1,003 of 2,000  loss 2.0000 (smoothed 2.2368)  600 samples/s  computing 100 %, communicating 0 %"
                                + " hidden, 0 % not hidden  slowest rank 0 (+0 %)  recall 0.2500"),
                bytes.toString(StandardCharsets.UTF_8).lines().toList());
    }

    @Test
    void aTerminalGetsALineThatRedrawsItselfAndStaysAtTheEnd() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        PrintStream terminal = into(bytes);
        TrainingRanks.run(Over.SIMULATED, 1, group -> {
            Watched watched = new Watched(group, 1);
            watched.builder.bar(terminal).totalSteps(4);
            watched.step(new Spent(10, 1, 2), 300_000, 4.5);
            watched.step(new Spent(10, 1, 2), 30, 2.5);
            watched.monitor().finish();
            watched.monitor().finish();
            return null;
        });
        String first = "[#-----]  25 % loss 4.500 (4.500) 30,000/s waits 10 % hidden 20 % slowest 0";
        String second = "[###---]  50 % loss 2.500 (3.447) 3/s waits 10 % hidden 20 % slowest 0";
        assertEquals(
                first + "\r" + second + " ".repeat(first.length() - second.length()) + "\r" + second
                        + System.lineSeparator(),
                bytes.toString(StandardCharsets.UTF_8));
        assertTrue("[0] ".length() + first.length() <= 80, first);
    }

    @Test
    void aFileGetsALineOfJsonPerReportAndKeepsThoseBefore() throws Exception {
        Path file = folder.resolve("metrics.jsonl");
        for (int run = 0; run < 2; run++) {
            TrainingRanks.run(Over.SIMULATED, 2, group -> {
                Watched watched = new Watched(group, 1, "recall \"top 5\"");
                watched.builder.json(file);
                watched.step(new Spent(4, 1, 2), 8, 1.5, 0.25);
                watched.step(new Spent(4, 1, 2), 8, Double.NaN, Double.POSITIVE_INFINITY);
                return null;
            });
        }
        String first =
                "{\"step\":1,\"seconds\":4.0,\"samples\":16,\"samplesPerSecond\":4.0,\"loss\":1.5,\"smoothedLoss\":1.5,"
                        + "\"computing\":0.75,\"hidden\":0.5,\"waiting\":0.25,\"slowestRank\":0,\"slowestBy\":0.0,"
                        + "\"metrics\":{\"recall \\\"top 5\\\"\":0.25}}";
        String second =
                "{\"step\":2,\"seconds\":8.0,\"samples\":16,\"samplesPerSecond\":4.0,\"loss\":null,\"smoothedLoss\":1.5,"
                        + "\"computing\":0.75,\"hidden\":0.5,\"waiting\":0.25,\"slowestRank\":0,\"slowestBy\":0.0,"
                        + "\"metrics\":{\"recall \\\"top 5\\\"\":null}}";
        assertEquals(List.of(first, second, first, second), Files.readAllLines(file));
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    @DisplayName("row 49: a full disk under the reports of a training is one warning")
    void aDiskThatIsFullMeanwhileCostsLinesAndOneWarningAndTheTrainingGoesOn() throws Exception {
        Path file = Files.createSymbolicLink(folder.resolve("metrics.jsonl"), Path.of("/dev/full"));
        Warnings warnings = new Warnings();
        warnings.log.addHandler(warnings);
        try {
            TrainingRanks.run(Over.SIMULATED, 2, group -> {
                Watched watched = new Watched(group, 1);
                watched.builder.json(file);
                watched.step(new Spent(4, 1, 2), 8, 1.5);
                watched.step(new Spent(4, 1, 2), 8, 2.5);
                if (group.rank() == 0) {
                    Files.delete(file);
                }
                watched.step(new Spent(4, 1, 2), 8, 3.5);
                assertEquals(3, watched.reports.size());
                return null;
            });
        } finally {
            warnings.log.removeHandler(warnings);
        }

        List<String> lines = Files.readAllLines(file);
        assertEquals(1, lines.size(), lines::toString);
        assertTrue(lines.get(0).startsWith("{\"step\":3,"), lines::toString);
        assertEquals(1, warnings.heard.size(), warnings.heard::toString);
        assertTrue(
                warnings.heard.get(0).startsWith("cannot append metrics to " + file + " (No space left on device): "),
                warnings.heard::toString);
    }

    /** The warnings of training. */
    private static final class Warnings extends Handler {
        final Logger log = Logger.getLogger("ferro.training");
        final List<String> heard = new CopyOnWriteArrayList<>();

        @Override
        public void publish(LogRecord record) {
            if (record.getLevel() == Level.WARNING) {
                heard.add(record.getMessage());
            }
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    }

    @Test
    void aFileThatCannotBeWrittenIsReportedBeforeTheTraining() {
        Path file = folder.resolve("missing").resolve("metrics.jsonl");
        TrainingRanks.run(Over.SIMULATED, 1, group -> {
            String message = assertThrows(
                            UncheckedIOException.class,
                            () -> TrainingMonitor.builder(group).json(file).build())
                    .getMessage();
            assertTrue(message.startsWith("cannot append metrics to " + file + ": "), message);
            return null;
        });
    }

    @Test
    void settingsThatDifferAreRefusedOnAllRanks() {
        try (TrainingRanks ranks = TrainingRanks.over(Over.SIMULATED, 2)) {
            List<Throwable> failures = ranks.failures(group ->
                    TrainingMonitor.builder(group).reportEvery(5 + group.rank()).build());

            for (Throwable failure : failures) {
                String message = assertInstanceOf(IllegalArgumentException.class, failure)
                        .getMessage();
                assertTrue(
                        message.startsWith(
                                "settings of training monitors differ: rank 0 every 5 steps after 0 with metrics [], rank 1 every 6"),
                        message);
            }
        }
    }

    @Test
    void stepsThatMakeNoSenseAreRefused() {
        TrainingRanks.run(Over.SIMULATED, 1, group -> {
            Watched watched = new Watched(group, 1, "recall");
            assertThrows(IllegalArgumentException.class, () -> watched.step(new Spent(1, 0, 0), 1, 1));
            assertThrows(IllegalArgumentException.class, () -> watched.step(new Spent(1, 0, 0), -1, 1, 1));
            assertThrows(IllegalArgumentException.class, () -> watched.step(new Spent(1, -1, 0), 1, 1, 1));
            assertThrows(IllegalArgumentException.class, () -> watched.builder.reportEvery(0));
            assertThrows(IllegalArgumentException.class, () -> watched.builder.metrics("a", "a"));
            assertEquals(List.of(), watched.reports);
            watched.step(new Spent(1, 5, 3), 1, 1, 1);
            // times beyond that of the step count as the whole step
            assertEquals(new TimeShares(0, 0, 1), watched.reports.get(0).time());
            assertEquals(new SlowestRank(0, 0), watched.reports.get(0).slowest());
            return null;
        });
    }
}

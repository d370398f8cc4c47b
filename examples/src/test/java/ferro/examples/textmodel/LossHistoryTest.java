package ferro.examples.textmodel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.examples.textmodel.LossHistory.LossPoint;
import ferro.examples.textmodel.Trainer.TrainingStep;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LossHistoryTest {
    @TempDir
    private Path folder;

    @Test
    void eachGenerationAppendsItsStepsAndIncompleteLinesAreIgnored() throws IOException {
        new LossHistory(folder, 0).add(new TrainingStep(0, 4.25, 1, 1), 1000);
        Files.writeString(folder.resolve("losses.csv"), "0,1,2", StandardOpenOption.APPEND);
        Files.writeString(folder.resolve("losses.csv"), "\n", StandardOpenOption.APPEND);
        new LossHistory(folder, 1).add(new TrainingStep(1, 3.5, 1, 1), 3000);

        assertEquals(
                List.of(new LossPoint(0, 0, 1000, 4.25), new LossPoint(1, 1, 3000, 3.5)),
                new LossHistory(folder, 2).points());
    }

    @Test
    void lossesOfAnEarlierJobAreRemoved() {
        LossHistory history = new LossHistory(folder, 0);
        history.add(new TrainingStep(3, 4.25, 1, 1), 1000);
        history.clear();

        assertEquals(List.of(), history.points());
    }

    @Test
    void killsAndRestartsAreMarkedBelowTheLosses() {
        List<LossPoint> points = List.of(
                new LossPoint(0, 0, 0, 4),
                new LossPoint(0, 1, 1000, 3),
                new LossPoint(1, 1, 3000, 3),
                new LossPoint(1, 2, 7100, 1));

        List<String> plot = LossHistory.plot(points);

        assertTrue(plot.get(0).startsWith(" 4.000 |*"), plot.toString());
        String marks = plot.get(plot.size() - 2);
        assertEquals("       |" + " ".repeat(10) + "x" + " ".repeat(19) + "o", marks.stripTrailing());
        assertEquals(80, plot.stream().mapToInt(String::length).max().orElseThrow());
        assertEquals("loss over 7.1 s; x: a rank is killed, o: the job continues", plot.get(plot.size() - 1));
    }

    @Test
    void oneRankOfEachGenerationIsKilledWhileRestartsAreLeft() {
        KillSchedule chaos = new KillSchedule(Duration.ofSeconds(10), 3, 7);
        for (int generation = 0; generation < 5; generation++) {
            int of = generation;
            long killed = IntStream.range(0, 4)
                    .filter(rank -> chaos.kills(of, rank, 4))
                    .count();
            assertEquals(generation < 3 ? 1 : 0, killed, "generation " + generation);
        }
        assertTrue(IntStream.range(0, 4).noneMatch(rank -> new KillSchedule(Duration.ZERO, 3, 7).kills(0, rank, 4)));
    }
}

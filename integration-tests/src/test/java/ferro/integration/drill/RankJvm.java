package ferro.integration.drill;

import ferro.harness.Child;
import ferro.harness.Jvm;
import ferro.integration.LauncherRun;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** A process that is a rank, told what to do line by line. */
final class RankJvm extends Child {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final int heapMiB;
    private int heard;

    private RankJvm(List<String> line, int heapMiB) throws IOException {
        super(new ProcessBuilder(line).redirectErrorStream(true), PATIENCE);
        this.heapMiB = heapMiB;
    }

    /** Starts one; what heap it is to have, and have written to, is 64 MiB at least. */
    static RankJvm start(int heapMiB) throws IOException {
        List<String> line = new ArrayList<>(List.of(Jvm.java(), "-Xms" + heapMiB + "m", "-Xmx" + heapMiB + "m"));
        line.addAll(List.of("-XX:+AlwaysPreTouch", "-XX:-UsePerfData", "--enable-native-access=ALL-UNNAMED"));
        line.addAll(Drill.javaOptions());
        line.addAll(List.of("-cp", LauncherRun.classPath(), DrillRank.class.getName()));
        return new RankJvm(line, heapMiB);
    }

    int heapMiB() {
        return heapMiB;
    }

    /** Sends a command. Later waits ignore the lines that were printed before. */
    void tell(Line command) throws IOException {
        heard = outLines().size();
        ask(command);
    }

    /** Sends a command. Later waits still find lines that were printed before. */
    void ask(Line command) throws IOException {
        write(command.toString());
    }

    /** Waits for a line with this tag, said since the last {@link #tell}. */
    Line awaitTag(String tag) throws InterruptedException {
        return Line.parse(out().await(heard, line -> line.startsWith(tag + " ") || line.equals(tag)));
    }

    /** Waits for an event of a kind at or behind this time: a busy machine may have suspected somebody before. */
    Line awaitEvent(String kind, long since) throws InterruptedException {
        return Line.parse(out().await(
                        heard,
                        line -> line.startsWith("event ")
                                && line.contains(" kind=" + kind + " ")
                                && Line.parse(line).number("at") >= since));
    }

    /** Waits until {@code lost()} of this rank is exactly these ranks, and returns the first line that says so. */
    Line awaitLost(List<Integer> ranks) throws InterruptedException {
        return Line.parse(out().await(
                        heard,
                        line -> line.startsWith("lost ")
                                && Line.parse(line).culprits().equals(ranks)));
    }

    /** Returns all values that {@code lost()} of this rank has had since the last {@link #tell}, in their order. */
    List<List<Integer>> lost() {
        return outLines().stream()
                .skip(heard)
                .filter(line -> line.startsWith("lost "))
                .map(line -> Line.parse(line).culprits())
                .toList();
    }

    /** Returns whether it has said such a line since the last {@link #tell}. */
    boolean hasSaid(String tag) {
        return outLines().stream().skip(heard).anyMatch(line -> line.startsWith(tag + " ") || line.equals(tag));
    }

    List<String> falseLines() {
        return FalseLines.onLoopback(outLines());
    }
}

package ferro.benchmarks.scale;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;

final class ExitRow {
    /** What the JVM prints before it exits. */
    static final String OPEN = "open";

    private static final double NANOS = 1e9;

    private ExitRow() {}

    static void measure(int ranks) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(ScaleRow.OPEN_GROUP.command(ranks))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
        try (BufferedReader output =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            for (String line = output.readLine(); !OPEN.equals(line); line = output.readLine()) {
                if (line == null) {
                    throw new IllegalStateException(
                            "the JVM with open groups ended early, exit code " + process.waitFor());
                }
            }
        }
        long begun = System.nanoTime();
        process.waitFor();
        Meter.print("exit with open groups", (System.nanoTime() - begun) / NANOS, "s");
    }
}

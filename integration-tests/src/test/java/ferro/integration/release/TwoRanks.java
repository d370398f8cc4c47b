package ferro.integration.release;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.integration.Ports;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** A job of two ranks on loopback that a user starts by hand. */
final class TwoRanks {
    private static final long TIMEOUT_SECONDS = 60;

    private TwoRanks() {}

    /** Runs the program of examples/starter, or one that prints the same, and returns the output of rank 0. */
    static String sum(Path folder, Map<String, String> variables, List<String> command)
            throws IOException, InterruptedException {
        int port = Ports.free();
        List<Process> ranks = new ArrayList<>();
        try {
            for (int rank = 0; rank < 2; rank++) {
                ProcessBuilder builder = new ProcessBuilder(command)
                        .redirectErrorStream(true)
                        .redirectOutput(printed(folder, rank).toFile());
                builder.environment().putAll(variables);
                builder.environment().put("RANK", "" + rank);
                builder.environment().put("WORLD_SIZE", "2");
                builder.environment().put("MASTER_ADDR", "127.0.0.1");
                builder.environment().put("MASTER_PORT", "" + port);
                ranks.add(builder.start());
            }
            for (int rank = 0; rank < 2; rank++) {
                boolean hasEnded = ranks.get(rank).waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS);
                String said = Files.readString(printed(folder, rank));
                assertTrue(hasEnded, () -> "still running: " + command + "\n" + said);
                assertEquals(0, ranks.get(rank).exitValue(), () -> command + "\n" + said);
                String sum = "rank " + rank + " of 2 has [3.0, 30.0]";
                assertEquals(1, said.lines().filter(sum::equals).count(), () -> command + "\n" + said);
            }
            return Files.readString(printed(folder, 0));
        } finally {
            ranks.forEach(Process::destroyForcibly);
        }
    }

    private static Path printed(Path folder, int rank) {
        return folder.resolve("printed-" + rank);
    }
}

package ferro.integration.release;

import ferro.harness.Child;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

final class Commands {
    private static final Duration TIMEOUT = Duration.ofSeconds(580);

    private Commands() {}

    static String run(Path folder, Map<String, String> variables, List<String> command)
            throws IOException, InterruptedException {
        ProcessBuilder builder =
                new ProcessBuilder(command).directory(folder.toFile()).redirectErrorStream(true);
        builder.environment().putAll(variables);
        try (Child child = new Child(builder, TIMEOUT)) {
            return child.ended(0) + "\n";
        }
    }
}

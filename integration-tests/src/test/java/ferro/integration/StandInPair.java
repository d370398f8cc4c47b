package ferro.integration;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * The libraries that stand in for libnccl and libcudart, as backend-nccl's build makes them, for tests of whole processes:
 * {@code @ExtendWith(StandInPair.class)} skips a test where they were not built, with the reason.
 */
final class StandInPair implements ExecutionCondition {
    private static final Path FOLDER =
            Path.of("../backend-nccl/target/native").toAbsolutePath().normalize();

    /** Returns variables that name the pair, and what the test adds. */
    static Map<String, String> variables(String... more) {
        Map<String, String> variables = runtimeOnly();
        variables.put("FERRO_NCCL_LIBRARY", nccl());
        for (int at = 0; at < more.length; at += 2) {
            variables.put(more[at], more[at + 1]);
        }
        return variables;
    }

    /** Returns variables of a machine with devices and without NCCL. */
    static Map<String, String> runtimeOnly() {
        return new HashMap<>(Map.of("FERRO_CUDART_LIBRARY", runtime(), "NCCL_SOCKET_IFNAME", "lo"));
    }

    static String nccl() {
        return FOLDER.resolve("libnccl.so.2").toString();
    }

    static String runtime() {
        return FOLDER.resolve("libcudart.so.12").toString();
    }

    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
        if (Files.exists(Path.of(nccl()))) {
            return ConditionEvaluationResult.enabled("stand-in libraries are in " + FOLDER);
        }
        Path note = FOLDER.resolve("skipped.txt");
        try {
            return ConditionEvaluationResult.disabled(
                    Files.exists(note) ? Files.readString(note).strip() : "no stand-in libraries in " + FOLDER);
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }
}

package ferro.launcher.doctor;

import ferro.collectives.reduce.KernelFactory;
import ferro.launcher.program.ClassPath;
import ferro.launcher.program.JavaSettings;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Finds the reduction kernels of a rank. Uses a JVM with a rank's flags, because the launcher has other flags. */
final class KernelProbe {
    private static final long PATIENCE_SECONDS = 20;

    private KernelProbe() {}

    /** Prints the reduction kernels in use. Runs in a JVM with the flags of a rank. */
    public static void main(String[] arguments) {
        System.out.println(KernelFactory.inForce());
    }

    /** Returns the output of {@link #main} in a JVM with the flags of a rank, or the reason why it has no output. */
    static String ofRanks() {
        List<String> line = new ArrayList<>();
        line.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        line.add("-XX:TieredStopAtLevel=1");
        line.addAll(JavaSettings.ownFlags());
        line.addAll(List.of("-cp", ClassPath.ofLauncher().toString(), KernelProbe.class.getName()));
        try {
            Process asked = new ProcessBuilder(line)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            boolean ended = asked.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS);
            if (!ended) {
                asked.destroyForcibly();
            }
            String answer = ended ? new String(asked.getInputStream().readAllBytes(), StandardCharsets.UTF_8) : "";
            return answer.isBlank() ? "a rank's JVM printed no answer" : answer.strip();
        } catch (IOException notStarted) {
            return "cannot start a rank's JVM: " + notStarted.getMessage();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            return "interrupted while waiting for the answer of a rank's JVM";
        }
    }
}

package ferro.integration.restarts;

import ferro.FerroException;
import ferro.group.JoinOptions;
import ferro.group.ProcessGroup;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;

/**
 * A process of one generation that its launcher cannot end, because it has left the group of its rank. It reads what a rank
 * needs when it starts, joins when a file {@code go} is there, and writes what it was told into the file {@code told}. Its
 * argument is the folder of these files.
 */
final class JoinsLate {
    private static final long LOOK_MILLIS = 10;

    private JoinsLate() {}

    public static void main(String[] arguments) throws IOException, InterruptedException {
        Path folder = Path.of(arguments[0]);
        String store = System.getenv("MASTER_ADDR") + ":" + System.getenv("MASTER_PORT");
        String job = System.getenv("FERRO_JOB_ID");
        int dot = job.lastIndexOf('.');
        JoinOptions options = JoinOptions.of(
                        Integer.parseInt(System.getenv("RANK")), Integer.parseInt(System.getenv("WORLD_SIZE")))
                .job(job.substring(0, dot), Integer.parseInt(job.substring(dot + 1)))
                .secret(Files.readString(Path.of(System.getenv("FERRO_SECRET_FILE")))
                        .trim()
                        .getBytes())
                .storeAt(store)
                .joinTimeout(Duration.ofSeconds(20));
        write(folder.resolve("ready"), "" + ProcessHandle.current().pid());
        while (!Files.exists(folder.resolve("go"))) {
            Thread.sleep(LOOK_MILLIS);
        }
        try (ProcessGroup group = ProcessGroup.join(options)) {
            write(folder.resolve("told"), "joined as rank " + group.rank());
        } catch (FerroException refused) {
            write(folder.resolve("told"), refused.code() + " " + refused.getMessage());
        }
    }

    private static void write(Path file, String text) throws IOException {
        Path part = file.resolveSibling(file.getFileName() + ".part");
        Files.writeString(part, text);
        Files.move(part, file, StandardCopyOption.ATOMIC_MOVE);
    }
}

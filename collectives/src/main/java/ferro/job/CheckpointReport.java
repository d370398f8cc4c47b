package ferro.job;

import ferro.spi.RankContext;
import ferro.spi.Settings;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The file in which a rank reports to its launcher the steps of the checkpoints that the rank has published. Each line
 * has one step, in the order of the saves. A launcher that starts jobs again prints the last step of each generation.
 */
public final class CheckpointReport {
    private static final System.Logger LOG = System.getLogger("ferro.training");

    private final Optional<Path> file;

    private CheckpointReport(Optional<Path> file) {
        this.file = file;
    }

    /**
     * Returns the report of a rank.
     *
     * @param context may have the setting {@code FERRO_CHECKPOINT_REPORT}; without this setting, nothing is written
     * @return report
     */
    public static CheckpointReport of(RankContext context) {
        return new CheckpointReport(Settings.CHECKPOINT_REPORT.find(context).map(Path::of));
    }

    /**
     * Adds the step of a checkpoint that has just been published. If the file cannot be written, the launcher does not
     * get the step, and the call does nothing else.
     *
     * @param step step of the checkpoint
     */
    public void published(long step) {
        file.ifPresent(path -> append(path, step + "\n"));
    }

    private static void append(Path path, String line) {
        try {
            Files.writeString(
                    path, line, StandardCharsets.US_ASCII, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (IOException failure) {
            LOG.log(Level.DEBUG, () -> "cannot report a checkpoint in " + path + ": " + failure);
        }
    }

    /**
     * Reads the last step from a report. A line that a killed rank has not completed is ignored.
     *
     * @param file report of a rank
     * @return step; empty if the file does not exist or has no complete line
     * @throws IOException if the file cannot be read
     */
    public static OptionalLong last(Path file) throws IOException {
        if (Files.notExists(file)) {
            return OptionalLong.empty();
        }
        String text = Files.readString(file, StandardCharsets.US_ASCII);
        int end = text.lastIndexOf('\n');
        String line = text.substring(text.lastIndexOf('\n', end - 1) + 1, Math.max(end, 0));
        return line.matches("[0-9]{1,18}") ? OptionalLong.of(Long.parseLong(line)) : OptionalLong.empty();
    }
}

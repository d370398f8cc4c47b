package ferro.training.monitor;

import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.function.Consumer;

/**
 * A listener that appends each report to a file, as one line of JSON. The file is open only while a line is written. A
 * line that cannot be written is left out, so that a report cannot end a training.
 */
final class ReportFile implements Consumer<TrainingReport> {
    private static final double NANOS_PER_SECOND = 1e9;

    private static final System.Logger LOG = System.getLogger("ferro.training");

    private final Path file;
    private boolean warned;

    /**
     * Creates the file if it does not exist. A file that cannot be written thus causes an exception before the training
     * begins.
     */
    ReportFile(Path file) {
        this.file = file;
        try {
            append("");
        } catch (IOException failure) {
            throw new UncheckedIOException("cannot append metrics to " + file + ": " + failure, failure);
        }
    }

    @Override
    public void accept(TrainingReport report) {
        JsonObject json = new JsonObject();
        json.addProperty("step", report.step());
        json.addProperty("seconds", report.elapsed().toNanos() / NANOS_PER_SECOND);
        json.addProperty("samples", report.samples());
        add(json, "samplesPerSecond", report.samplesPerSecond());
        add(json, "loss", report.loss());
        add(json, "smoothedLoss", report.smoothedLoss());
        add(json, "computing", report.time().computing());
        add(json, "hidden", report.time().hidden());
        add(json, "waiting", report.time().waiting());
        json.addProperty("slowestRank", report.slowest().rank());
        add(json, "slowestBy", report.slowest().more());
        JsonObject metrics = new JsonObject();
        report.metrics().forEach((name, mean) -> add(metrics, name, mean));
        json.add("metrics", metrics);
        try {
            append(json + "\n");
        } catch (IOException failure) {
            warn(failure);
        }
    }

    private void warn(IOException failure) {
        if (!warned) {
            warned = true;
            LOG.log(
                    Level.WARNING,
                    "cannot append metrics to " + file + " (" + failure.getMessage()
                            + "): reports that cannot be written are left out, and the training goes on");
        }
    }

    /** Adds a number, or null for NaN and infinity, which JSON does not have. */
    private static void add(JsonObject json, String name, double number) {
        if (Double.isFinite(number)) {
            json.addProperty(name, number);
        } else {
            json.add(name, JsonNull.INSTANCE);
        }
    }

    /** Appends a text completely or not at all. */
    private void append(String text) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.APPEND)) {
            long end = channel.size();
            ByteBuffer bytes = StandardCharsets.UTF_8.encode(text);
            try {
                while (bytes.hasRemaining()) {
                    channel.write(bytes);
                }
            } catch (IOException failure) {
                channel.truncate(end);
                throw failure;
            }
        }
    }
}

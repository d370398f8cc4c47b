package ferro.training.monitor;

import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.function.Consumer;

/** Appends each report to a file, as one line of JSON. The file is open only while a line is written. */
final class ReportFile implements Consumer<TrainingReport> {
    private static final double NANOS_PER_SECOND = 1e9;

    private final Path file;

    /** Makes the file if it is not there, so that one that cannot be written is told before the training begins. */
    ReportFile(Path file) {
        this.file = file;
        append("");
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
        append(json + "\n");
    }

    /** JSON has no NaN and no infinity: these are null. */
    private static void add(JsonObject json, String name, double number) {
        if (Double.isFinite(number)) {
            json.addProperty(name, number);
        } else {
            json.add(name, JsonNull.INSTANCE);
        }
    }

    private void append(String text) {
        try {
            Files.writeString(file, text, StandardCharsets.UTF_8, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (IOException failure) {
            throw new UncheckedIOException("cannot append metrics to " + file + ": " + failure, failure);
        }
    }
}

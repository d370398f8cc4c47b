package ferro.harness;

import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;

/** Records which files and folders the JDK forces to disk, by its own event {@code jdk.FileForce}. */
public final class ForcedFiles {
    private static final String EVENT = "jdk.FileForce";

    private ForcedFiles() {}

    /** Returns the events of files in a folder while code runs, by time. */
    public static List<RecordedEvent> during(Path folder, Says.Call code) throws Exception {
        Path file = folder.resolve("forced.jfr");
        try (Recording recording = new Recording()) {
            recording.enable(EVENT).withoutThreshold();
            recording.start();
            code.run();
            recording.stop();
            recording.dump(file);
        }
        return RecordingFile.readAllEvents(file).stream()
                .filter(event -> event.getEventType().getName().equals(EVENT))
                .filter(event -> path(event).startsWith(folder))
                .sorted(Comparator.comparing(RecordedEvent::getStartTime))
                .toList();
    }

    public static Path path(RecordedEvent event) {
        return Path.of(event.getString("path"));
    }
}

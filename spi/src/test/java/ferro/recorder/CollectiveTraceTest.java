package ferro.recorder;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException.Code;
import ferro.spi.GroupSpec;
import ferro.spi.OnJavaBase;
import ferro.spi.TestContext;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CollectiveTraceTest {
    private static final String NAME = "ferro.Collective";

    private static GroupRecorder group(Map<String, String> settings) {
        GroupSpec spec = GroupSpec.of("world", 1, 2, Duration.ofSeconds(3));
        return FlightRecorder.of(TestContext.of(settings), spec).enter("world", 1, new int[] {0, 1}, new GroupOfTest());
    }

    private static void twoOperations(GroupRecorder group) {
        int good = group.submitted(16, "allReduce f32[64] sum by ring", 256, 100);
        group.running(good);
        group.done(good, 200, 4, 512);
        int bad = group.message("recv from rank 0 tag 7", 40, 300, 0);
        group.failed(bad, 400, Code.PEER_LOST, GroupRecorder.Progress.UNKNOWN);
    }

    @Test
    void aJfrRecordingHasEveryOperation(@TempDir Path folder) throws IOException {
        Path file = folder.resolve("collectives.jfr");
        GroupRecorder group = group(Map.of());
        try (Recording recording = new Recording()) {
            recording.enable(NAME);
            recording.start();
            twoOperations(group);
            recording.stop();
            twoOperations(group);
            recording.dump(file);
        }

        List<RecordedEvent> events = RecordingFile.readAllEvents(file).stream()
                .filter(event -> event.getEventType().getName().equals(NAME))
                .toList();

        assertEquals(2, events.size());
        RecordedEvent good = events.get(0);
        assertEquals("world", good.getString("group"));
        assertEquals(1, good.getInt("rank"));
        assertEquals(16, good.getLong("sequence"));
        assertEquals("allReduce", good.getString("operation"));
        assertEquals("allReduce f32[64] sum by ring", good.getString("description"));
        assertEquals(256, good.getLong("bytes"));
        assertEquals("", good.getString("code"));
        assertEquals("recv", events.get(1).getString("operation"));
        assertEquals(-1, events.get(1).getLong("sequence"));
        assertEquals("PEER_LOST", events.get(1).getString("code"));
    }

    @Test
    void noEventIsCreatedUnlessJfrRecordsIt() {
        try (Recording recording = new Recording()) {
            recording.disable(NAME);
            recording.start();

            assertNull(GroupRecorder.begunTrace());
            recording.enable(NAME);
            assertNotNull(GroupRecorder.begunTrace());
        }
    }

    @Test
    void withoutJfrOperationsAreStillRecorded(@TempDir Path folder) throws Exception {
        assertEquals("jdk.jfr false\n", OnJavaBase.output(TwoOperations.class, folder));
        String record = Files.readString(folder.resolve("ferro-default-rank1.json"));
        assertTrue(record.contains("\"state\":\"done\""), record);
        assertTrue(record.contains("\"state\":\"failed\",\"code\":\"PEER_LOST\""), record);
    }

    /** Two operations on a runtime that has nothing but java.base, and the file of them. */
    static final class TwoOperations {
        private TwoOperations() {}

        public static void main(String[] arguments) throws IOException {
            System.out.println(
                    "jdk.jfr " + ModuleLayer.boot().findModule("jdk.jfr").isPresent());
            TestContext rank = TestContext.of(Map.of());
            GroupSpec spec = GroupSpec.of("world", 1, 2, Duration.ofSeconds(3));
            FlightRecorder recorder = FlightRecorder.of(rank, spec);
            twoOperations(recorder.enter("world", 1, new int[] {0, 1}, new GroupOfTest()));
            recorder.write(Path.of(arguments[0]), "request");
        }
    }
}

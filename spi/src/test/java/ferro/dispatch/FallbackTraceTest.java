package ferro.dispatch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.CallOptions;
import ferro.Collective;
import ferro.DataType;
import ferro.DeviceTensor;
import ferro.ReduceOp;
import ferro.spi.OnJavaBase;
import ferro.spi.TestContext;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FallbackTraceTest {
    @Test
    @DisplayName("0-07: a recording sees each round trip with collective, bytes and device")
    void aRecordingSeesTheCall(@TempDir Path folder) throws IOException {
        Path file = folder.resolve("fallback.jfr");
        HeapDevice memory = new HeapDevice();
        GpuCollectives gpu = collectives(memory);
        DeviceTensor data = memory.allocate(DataType.FLOAT32, new long[] {6}, 3);
        CallOptions options = CallOptions.of(Duration.ofSeconds(60)).labelled("loss");
        try (Recording recording = new Recording()) {
            recording.enable("ferro.GpuFallback");
            recording.start();
            gpu.dispatch(new LoneRank(), options).open(Collective.allReduce(data, ReduceOp.SUM));
            recording.stop();
            recording.dump(file);
        }

        List<RecordedEvent> events = RecordingFile.readAllEvents(file);

        assertEquals(1, events.size());
        RecordedEvent event = events.get(0);
        assertEquals("ferro.GpuFallback", event.getEventType().getName());
        assertEquals("allReduce", event.getString("collective"));
        assertEquals("loss", event.getString("label"));
        assertEquals(24, event.getLong("bytes"));
        assertEquals(3, event.getInt("device"));
    }

    @Test
    @DisplayName("0-07 0-08: without jdk.jfr the round trip works, and the warning is on the logger ferro.gpu.fallback")
    void withoutJfrTheRoundTripWorksAndWarns(@TempDir Path folder) throws Exception {
        String text = OnJavaBase.output(RoundTrip.class, folder);

        assertTrue(text.contains("jdk.jfr false"), text);
        assertTrue(text.contains("result 3.0 count 1"), text);
        assertTrue(text.contains("collective=allReduce"), text);
        assertTrue(text.contains("unset ferro.gpu.fallback to get an error"), text);
    }

    /** Returns the calls of a rank whose gate is open. */
    private static GpuCollectives collectives(HeapDevice memory) {
        TestContext context = new TestContext().with("ferro.gpu.fallback", "1");
        context.shared(DeviceMemory.class, () -> memory);
        FakeFallback fallback = new FakeFallback(memory);
        return GpuCollectives.with(context, () -> Optional.of(fallback), System.getLogger("ferro.gpu.fallback"));
    }

    /** One round trip of one rank; needs nothing but java.base. */
    static final class RoundTrip {
        private RoundTrip() {}

        public static void main(String[] args) {
            System.out.println(
                    "jdk.jfr " + ModuleLayer.boot().findModule("jdk.jfr").isPresent());
            HeapDevice memory = new HeapDevice();
            GpuCollectives gpu = collectives(memory);
            DeviceTensor out = gpu.allReduce(memory.tensor(new long[] {1}, 3f), ReduceOp.SUM, new LoneRank());
            System.out.println("result " + memory.floats(out)[0] + " count " + gpu.fallbackCount("allReduce"));
        }
    }
}

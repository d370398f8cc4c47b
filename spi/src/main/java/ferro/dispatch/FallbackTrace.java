package ferro.dispatch;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;

/**
 * Records each use of the slow path as a JFR event. No other class of this package uses the module jdk.jfr, which a
 * small runtime may lack.
 */
final class FallbackTrace {
    private static final boolean RECORDS = canRecord();

    private FallbackTrace() {}

    static void commit(String collective, String label, long bytes, int device) {
        if (RECORDS) {
            GpuFallback.commit(collective, label, bytes, device);
        }
    }

    private static boolean canRecord() {
        try {
            Class.forName("jdk.jfr.Event", false, FallbackTrace.class.getClassLoader());
            return true;
        } catch (ClassNotFoundException | LinkageError absent) {
            return false;
        }
    }

    /** The JFR event of a call on device tensors that is about to go through host memory. */
    @Name("ferro.GpuFallback")
    @Label("GPU Fallback")
    @Category("ferro")
    @Description("A call on device tensors that goes through host memory, as there is no NCCL")
    static final class GpuFallback extends Event {
        @Label("Collective")
        String collective;

        @Label("Call Label")
        @Description("label of the call; empty if it has none")
        String label;

        @Label("Bytes")
        @Description("of the larger tensor of the call")
        @DataAmount
        long bytes;

        @Label("Device")
        int device;

        private static void commit(String collective, String label, long bytes, int device) {
            GpuFallback event = new GpuFallback();
            event.collective = collective;
            event.label = label;
            event.bytes = bytes;
            event.device = device;
            event.commit();
        }
    }
}

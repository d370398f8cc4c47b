package ferro.backend.gloofallback;

import ferro.dispatch.DeviceMemory;
import ferro.group.SystemContext;
import ferro.tck.BackendContract;
import ferro.tck.HeapDeviceMemory;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInfo;

/** The shared contract with operands on devices, which reach the other ranks through host memory. */
abstract class RoundTripContract extends BackendContract {
    /** Of 64 MiB; tens of thousands of small pieces would show no more than hundreds of these, for much processor. */
    private static final String CHUNK_OF_LARGE = "96KiB";

    /** Of what is above a segment, 512 KiB: hundreds of small pieces, each a few turns of the ranks' threads, show no more. */
    private static final String CHUNK_ABOVE_A_SEGMENT = "16KiB";

    private final String small;
    private String chunk;
    final HeapDeviceMemory heap = new HeapDeviceMemory(8);
    final Deque<AutoCloseable> opened = new ArrayDeque<>();

    /** Makes the suite with pieces of a size, small ones so that cells have several, uneven ones too. */
    RoundTripContract(String small) {
        this.small = small;
    }

    @BeforeEach
    void chooseChunk(TestInfo test) {
        boolean isAbove = test.getTestMethod().orElseThrow().getName().endsWith("AboveASegment");
        chunk = test.getTags().contains("large") ? CHUNK_OF_LARGE : isAbove ? CHUNK_ABOVE_A_SEGMENT : small;
    }

    /** The engine is that of the host's back end, whose tests run all calls. */
    @Override
    public boolean runsSelection() {
        return true;
    }

    @Override
    protected Optional<DeviceMemory> deviceMemory() {
        return Optional.of(heap);
    }

    /** A rank's context with the kit's devices and the gate open. */
    SystemContext context(Map<String, String> settings) {
        Map<String, String> all = new HashMap<>(settings);
        all.put("ferro.gpu.fallback", "1");
        all.put("ferro.fallback.chunk", chunk);
        SystemContext context = SystemContext.of(all);
        context.shared(DeviceMemory.class, heap::opened);
        opened.push(() -> {
            context.release(DeviceMemory.class);
            context.close();
        });
        return context;
    }

    @AfterEach
    void closeStoresAndContexts() throws Exception {
        while (!opened.isEmpty()) {
            opened.pop().close();
        }
    }

    @AfterAll
    void nothingIsLeftOnTheDevicesOrInStaging() {
        heap.close();
        heap.assertNothingLeft();
    }
}

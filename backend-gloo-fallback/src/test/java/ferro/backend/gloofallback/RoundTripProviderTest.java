package ferro.backend.gloofallback;

import static ferro.harness.Says.assertRefused;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.CollectiveBackend;
import ferro.DeviceTensor;
import ferro.HostTensor;
import ferro.NcclBackend;
import ferro.ReduceOp;
import ferro.dispatch.DeviceMemory;
import ferro.dispatch.GpuCollectives;
import ferro.group.Groups;
import ferro.group.ProcessGroup;
import ferro.group.SystemContext;
import ferro.spi.BackendProvider;
import ferro.spi.GroupSpec;
import ferro.tck.HeapDeviceMemory;
import ferro.tck.HeapDeviceMemory.Direction;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The round trip selected by its name, {@code -Dferro.backend=gloo-fallback}. */
class RoundTripProviderTest {
    private static final GroupSpec ALONE = GroupSpec.of("world", 0, 1, Duration.ofSeconds(20));

    private final HeapDeviceMemory heap = new HeapDeviceMemory(1);

    private SystemContext context(String host, String gate) {
        Map<String, String> settings = new HashMap<>();
        settings.put("ferro.backend", "gloo-fallback");
        settings.put("ferro.fallback.host", host);
        settings.put("ferro.gpu.fallback", gate);
        SystemContext context = SystemContext.of(settings);
        context.shared(DeviceMemory.class, heap::opened);
        return context;
    }

    @Test
    void theFallbackIsNeverChosenByAuto() {
        BackendProvider provider = new RoundTripProvider();
        assertEquals("gloo-fallback", provider.name());
        assertTrue(provider.priority() < 0);
        assertEquals(Optional.empty(), provider.unavailableBecause(context("simulated", "1")));
    }

    @Test
    @DisplayName("0-06 0-07: selected by name it takes device tensors, counts them, and frees everything at its end")
    void theNamedFallbackTakesDeviceAndHostTensorsAndFreesAllMemory() {
        try (SystemContext context = context("simulated", "1")) {
            DeviceTensor data = heap.upload(HostTensor.of(new float[] {3, 4}), 0);
            try (ProcessGroup group = Groups.join(ALONE, context)) {
                group.allReduce(data, ReduceOp.SUM);
                long[] onHost = {5};
                group.allReduce(onHost, ReduceOp.SUM);
                group.barrier();
                try (ProcessGroup part = group.newGroup(0)) {
                    part.allReduce(data, ReduceOp.AVG);
                }
                assertArrayEquals(new float[] {3, 4}, heap.floats(data));
                assertEquals(5, onHost[0]);
                assertTrue(group.backend().toString().contains("gloo-fallback over"), "name of " + group.backend());
            }
            assertEquals(2, heap.copies(Direction.TO_HOST), "copies out");
            assertEquals(2, GpuCollectives.with(context).fallbackCount("allReduce"), "calls counted");
            GpuCollectives.free(data);
            context.release(DeviceMemory.class);
        }
        heap.assertNothingLeft();
    }

    @Test
    @DisplayName("0-02 0-29: selected by name, but with the gate shut, a device tensor is still an error")
    void gateStillApplies() {
        try (SystemContext context = context("simulated", "0");
                ProcessGroup group = Groups.join(ALONE, context)) {
            DeviceTensor data = heap.upload(HostTensor.of(new float[] {3, 4}), 0);
            assertRefused(
                    UnsupportedOperationException.class,
                    () -> group.allReduce(data, ReduceOp.SUM),
                    "FERRO_ENABLE_GPU_FALLBACK=1");
            assertEquals(0, heap.copies(Direction.TO_HOST), "copies");
        }
    }

    @Test
    void anUnusableHostBackendIsRefusedWithItsReason() {
        assertReason("gloo-fallback", "names the round trip itself");
        assertReason("gloop", "no back end named ferro.fallback.host=gloop; found: ");
        assertRefused(
                IllegalArgumentException.class,
                () -> Groups.join(ALONE, context("gloop", "1")),
                "ferro.fallback.host=gloop");
    }

    private void assertReason(String host, String says) {
        String why = new RoundTripProvider()
                .unavailableBecause(context(host, "1"))
                .orElseThrow(() -> new AssertionError(host + " can serve"));
        assertTrue(why.contains(says), why);
    }

    @Test
    @DisplayName("0-08: without device memory the reason says what is missing")
    void missingDeviceMemoryIsNamedAsTheReason() {
        try (SystemContext context = SystemContext.of(Map.of("ferro.fallback.host", "simulated"))) {
            String why = new RoundTripProvider().unavailableBecause(context).orElse("");
            assertTrue(why.contains("found: none: add ferro-backend-nccl"), why);
            assertEquals(Optional.of(why), new HostRoundTrip().unavailableBecause(context));
        }
    }

    @Test
    @DisplayName("0-05: the NCCL view of the host back end is handed on")
    void ncclViewIsForwarded() {
        NcclBackend nccl = (NcclBackend) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {NcclBackend.class}, (proxy, method, given) -> null);
        CollectiveBackend host = (CollectiveBackend) Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {CollectiveBackend.class},
                (proxy, method, given) -> switch (method.getName()) {
                    case "asNcclBackend" -> Optional.of(nccl);
                    case "hashCode" -> 1;
                    case "equals" -> proxy == given[0];
                    default -> null;
                });
        try (SystemContext context = context("simulated", "1")) {
            RoundTripBackend backend = new RoundTripBackend(host, context);
            assertTrue(backend.takesDeviceTensors());
            assertSame(nccl, backend.asNcclBackend().orElseThrow());
            backend.close();
            assertFalse(heap.liveStagings() > 0, "staging is left");
        }
    }
}

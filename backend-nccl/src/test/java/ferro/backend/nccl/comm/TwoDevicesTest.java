package ferro.backend.nccl.comm;

import static ferro.harness.Says.assertSays;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.backend.nccl.Callers;
import ferro.backend.nccl.device.CudaStream;
import ferro.backend.nccl.ffi.StandIn;
import ferro.backend.nccl.ffi.StandInHooks;
import ferro.backend.nccl.queue.Deadline;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.parallel.ResourceLock;

/** The gate before tests on two devices, and the lock around them. */
@ExtendWith(StandIn.class)
@ResourceLock("nccl")
class TwoDevicesTest {
    @Test
    @DisplayName("1-37: two devices that can run a kernel open the gate; one device does not")
    void twoDevicesAreNeeded() {
        assertEquals(Optional.empty(), TwoDevices.skipBecause());
        assertFalse(gate().isDisabled());
        StandInHooks.standInDevices(1);
        assertTrue(gate().isDisabled());
        assertSays(TwoDevices.skipBecause().orElseThrow(), "needs 2 devices, found 1 devices");
        StandInHooks.standInDevices(-1);
        String none = TwoDevices.skipBecause().orElseThrow();
        assertSays(none, "CUDA error 35", "skipping");
        assertEquals(none, gate().getReason().orElseThrow());
    }

    /** What JUnit is told before the tests of a class. */
    private static ConditionEvaluationResult gate() {
        return new TwoDevices().evaluateExecutionCondition(test(Optional.empty()));
    }

    @Test
    @DisplayName("1-37: a device that is there but runs no kernel is named, with the reason")
    void aDeviceThatRunsNoKernelIsNamed() {
        StandInHooks.standInFailNext("ncclAllReduce", 1, 1);
        String reason = TwoDevices.skipBecause().orElseThrow();
        assertSays(reason, "device 1 cannot run compute kernels", "ncclUnhandledCudaError (1)", "skipping");
    }

    @Test
    @DisplayName("1-38: tests on the libraries run one at a time, under a lock that a failed test gives back")
    void testsHaveTheLibrariesForThemselves() throws Exception {
        StandIn standIn = new StandIn();
        CompletableFuture<String> begun = new CompletableFuture<>();
        CompletableFuture<AssertionError> failed = new CompletableFuture<>();
        Thread another = Callers.daemon(() -> {
            ExtensionContext leaky = test(Optional.empty());
            standIn.beforeEach(leaky);
            begun.complete("begun");
            CudaStream left = CudaStream.create(0);
            failed.complete(assertThrows(AssertionError.class, () -> standIn.afterEach(leaky)));
            left.close();
        });
        Deadline soon = Worlds.plenty();
        while (!StandIn.isAwaitedBy(another) && !soon.passed()) {
            Thread.onSpinWait();
        }
        assertTrue(StandIn.isMine() && StandIn.isAwaitedBy(another), "another test waits for this one");
        assertFalse(begun.isDone(), "another test has begun beside this one");

        standIn.afterEach(test(Optional.of(new AssertionError("this test fails"))));

        assertTrue(failed.get(20, TimeUnit.SECONDS).getMessage().contains("alive before and after the test"));
        another.join(20_000);
        assertFalse(StandIn.isTaken(), "a test that leaves something behind has kept the lock");
        standIn.beforeEach(test(Optional.empty()));
    }

    /** What JUnit hands to an extension, as far as this one asks. */
    private static ExtensionContext test(Optional<Throwable> failure) {
        Map<Object, Object> kept = new HashMap<>();
        ExtensionContext.Store store = proxy(
                ExtensionContext.Store.class,
                (self, method, given) ->
                        method.getName().equals("put") ? kept.put(given[0], given[1]) : kept.get(given[0]));
        return proxy(
                ExtensionContext.class,
                (self, method, given) -> method.getName().equals("getStore") ? store : failure);
    }

    private static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(Proxy.newProxyInstance(TwoDevicesTest.class.getClassLoader(), new Class<?>[] {type}, handler));
    }
}

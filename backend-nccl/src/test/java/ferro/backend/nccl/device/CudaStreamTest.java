package ferro.backend.nccl.device;

import static ferro.backend.nccl.ffi.StandInHooks.standInFailNext;
import static ferro.backend.nccl.ffi.StandInHooks.standInHold;
import static ferro.backend.nccl.ffi.StandInHooks.standInLive;
import static ferro.backend.nccl.ffi.StandInHooks.standInStreamLatency;
import static ferro.harness.Says.assertFails;
import static ferro.harness.Says.assertRefused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.backend.nccl.CudaException;
import ferro.backend.nccl.DeviceFloats;
import ferro.backend.nccl.NativeLog;
import ferro.backend.nccl.NativeLog.Line;
import ferro.backend.nccl.ffi.Cuda;
import ferro.backend.nccl.ffi.DeviceGuard;
import ferro.backend.nccl.ffi.ResultChecker;
import ferro.backend.nccl.ffi.StandIn;
import ferro.backend.nccl.queue.StreamFactory;
import ferro.harness.HeardLog;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@ExtendWith(StandIn.class)
class CudaStreamTest {
    private static final Duration LONG = Duration.ofSeconds(30);

    /** Queues work that takes a while. */
    private static void occupy(long stream, DeviceFloats to, DeviceFloats from) {
        DeviceFloats.queue(to.tensor(), from.tensor().address(), Cuda.DEVICE_TO_DEVICE, stream);
    }

    @Test
    @DisplayName("2-03 2-26: a stream of our own is made on its device, non-blocking, and destroyed once")
    void ownStreamsAreDestroyedOnce() {
        NativeLog.start();
        CudaStream stream = CudaStream.create(2);
        assertTrue(stream.owned());
        assertEquals(2, stream.device());
        assertEquals("own stream 0x" + Long.toHexString(stream.handle()) + " of device 2", stream.toString());

        stream.close();
        stream.close();

        List<Line> lines = NativeLog.stop();
        Line made = NativeLog.of(lines, "cudaStreamCreateWithFlags").get(0);
        assertEquals("1", made.arguments().get(1));
        assertEquals(2, made.device());
        assertEquals(1, NativeLog.count(lines, "cudaStreamDestroy"));
        assertThrows(IllegalStateException.class, () -> stream.await(LONG));
    }

    @Test
    @DisplayName("2-03: the caller's stream and the default one are never destroyed")
    void otherStreamsAreLeftAlone() {
        long[] handle = new long[1];
        assertEquals(0, Cuda.cudaStreamCreateWithFlags(handle, 0));
        NativeLog.start();

        try (CudaStream callers = CudaStream.ofCaller(handle[0], 0);
                CudaStream plain = CudaStream.ofDefault(0)) {
            assertFalse(callers.owned());
            assertFalse(plain.owned());
            assertEquals(handle[0], callers.handle());
            assertEquals(0, plain.handle());
            assertEquals("default stream 0x0 of device 0", plain.toString());
            assertTrue(callers.await(LONG));
        }

        assertEquals(0, NativeLog.count(NativeLog.stop(), "cudaStreamDestroy"));
        assertEquals(0, Cuda.cudaStreamDestroy(handle[0]));
    }

    @ParameterizedTest
    @DisplayName("T3: the default stream is waited for like any other, whatever device is current")
    @ValueSource(booleans = {true, false})
    void theDefaultStreamIsWaitedFor(boolean byDefault) {
        try (DeviceFloats to = DeviceFloats.of(1, 1, 2);
                DeviceFloats from = DeviceFloats.of(1, 3, 4);
                CudaStream stream = byDefault ? CudaStream.ofDefault(1) : CudaStream.create(1)) {
            standInHold(1);
            occupy(stream.handle(), to, from);

            assertFalse(stream.await(Duration.ZERO));
            standInHold(0);
            assertTrue(stream.await(LONG));

            assertEquals(4, to.read()[1]);
            assertEquals(0, DeviceFloats.currentDevice());
        }
    }

    @Test
    @DisplayName("2-10: a wait has an end and an interrupt")
    void waitingHasAnEnd() {
        try (DeviceFloats to = DeviceFloats.of(0, 1);
                DeviceFloats from = DeviceFloats.of(0, 2);
                CudaStream stream = CudaStream.create(0)) {
            standInHold(1);
            occupy(stream.handle(), to, from);

            assertFalse(stream.await(Duration.ofMillis(10)));
            Thread.currentThread().interrupt();
            FerroException interrupted = assertFails(Code.INTERRUPTED, () -> stream.await(LONG));
            assertTrue(Thread.interrupted());
            standInHold(0);
            assertTrue(stream.await(LONG));
        }
    }

    @Test
    @DisplayName("2-29: work on a stream finishes although the stream is closed")
    void workFinishesOnAClosedStream() {
        try (DeviceFloats to = DeviceFloats.of(0, 1);
                DeviceFloats from = DeviceFloats.of(0, 2);
                CudaStream watch = CudaStream.create(0)) {
            standInStreamLatency(0, 30_000);
            long[] done = new long[1];
            CudaStream closed = CudaStream.create(0);
            occupy(closed.handle(), to, from);
            ResultChecker.cuda(
                    Cuda.cudaEventCreateWithFlags(done, Cuda.EVENT_DISABLE_TIMING), "cudaEventCreateWithFlags");
            ResultChecker.cuda(Cuda.cudaEventRecord(done[0], closed.handle()), "cudaEventRecord");
            ResultChecker.cuda(Cuda.cudaStreamWaitEvent(watch.handle(), done[0], 0), "cudaStreamWaitEvent");

            closed.close();

            assertTrue(watch.await(LONG));
            standInStreamLatency(0, 0);
            assertEquals(2, to.read()[0]);
            assertEquals(0, Cuda.cudaEventDestroy(done[0]));
        }
    }

    @Test
    @DisplayName("2-28: a stream that cannot be destroyed is a line of log and nobody's failure")
    void aFailedDestroyIsNoFailure() {
        CudaStream stream = CudaStream.create(0);
        standInFailNext("cudaStreamDestroy", 0, 709);

        try (HeardLog log = new HeardLog("ferro.backend.nccl")) {
            stream.close();

            assertEquals(List.of("FINE a stream of device 0 could not be destroyed"), log.lines());
        }
        assertEquals(0, Cuda.cudaGetLastError());
        assertEquals(0, Cuda.cudaStreamDestroy(stream.handle()));
    }

    @Test
    @DisplayName("2-07 T14: without a stream of our own the default one of that device serves, and it is said once")
    void aFallbackToTheDefaultStreamIsLoggedOnce() {
        standInFailNext("cudaStreamCreateWithFlags", 0, 2);
        try (HeardLog log = new HeardLog("ferro.backend.nccl");
                CudaStream stream = StreamFactory.orDefault(1);
                CudaStream own = StreamFactory.orDefault(1)) {
            assertFalse(stream.owned());
            assertTrue(own.owned());
            assertEquals(1, stream.device());
            assertEquals(1, log.lines().size(), log.lines().toString());
            assertTrue(log.lines().get(0).startsWith("WARNING cannot create a stream on device 1: calls use"));
        }
    }

    @Test
    @DisplayName("1-09 1-17: the current device is the same afterwards, also when the call fails")
    void theCurrentDeviceIsRestored() {
        assertEquals(0, Cuda.cudaSetDevice(3));
        standInFailNext("cudaStreamCreateWithFlags", 0, 2);

        assertRefused(CudaException.class, () -> CudaStream.create(1), "cudaStreamCreateWithFlags");
        assertEquals(3, DeviceFloats.currentDevice());
        CudaStream.create(2).close();
        assertEquals(3, DeviceFloats.currentDevice());
        assertEquals(
                101,
                assertThrows(CudaException.class, () -> CudaStream.create(16)).cudaCode());
        assertEquals(3, DeviceFloats.currentDevice());
        assertEquals(0, DeviceGuard.call(1, () -> DeviceFloats.currentDevice() == 1 ? 0 : -1));
        assertThrows(
                IllegalStateException.class,
                () -> DeviceGuard.call(1, () -> {
                    throw new IllegalStateException("on device " + DeviceFloats.currentDevice());
                }));
        assertEquals(3, DeviceFloats.currentDevice());

        assertEquals(0, Cuda.cudaSetDevice(0));
        assertEquals(0, standInLive("stream"));
    }
}

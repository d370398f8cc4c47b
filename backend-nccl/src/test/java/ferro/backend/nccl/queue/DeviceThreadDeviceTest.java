package ferro.backend.nccl.queue;

import static ferro.harness.Says.assertRefused;
import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.backend.nccl.Callers;
import ferro.backend.nccl.DeviceFloats;
import ferro.backend.nccl.NativeLog;
import ferro.backend.nccl.ffi.Cuda;
import ferro.backend.nccl.ffi.StandIn;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.ResourceLock;

/** The current device of a thread, which CUDA keeps per thread of the operating system. */
@ExtendWith(StandIn.class)
@ResourceLock("nccl")
class DeviceThreadDeviceTest {
    @Test
    @DisplayName(
            "T6: 64 virtual threads that hand over always find their device; set and read in two steps they would not")
    void virtualThreadsFindTheirDevice() throws Exception {
        AtomicInteger wrong = new AtomicInteger();
        try (DeviceThread first = new DeviceThread("ferro-first-0-nccl", System::nanoTime);
                DeviceThread second = new DeviceThread("ferro-second-1-nccl", System::nanoTime)) {
            Callers.manyAtOnce(64, caller -> {
                int device = 1 + caller % 2;
                DeviceThread thread = device == 1 ? first : second;
                for (int i = 0; i < 20; i++) {
                    int before = thread.call(
                            () -> {
                                thread.use(device);
                                return DeviceFloats.currentDevice();
                            },
                            DeviceThreadTest.soon());
                    int after = thread.call(DeviceFloats::currentDevice, DeviceThreadTest.soon());
                    if (before != device || after != device) {
                        wrong.incrementAndGet();
                    }
                }
            });
        }
        assertEquals(0, wrong.get());
    }

    @Test
    @DisplayName("1-17 T6: a caller's own device is what it was")
    void theCallersDeviceStays() throws Exception {
        assertEquals(0, Cuda.cudaSetDevice(2));
        try (DeviceThread thread = new DeviceThread("ferro-own-0-nccl", System::nanoTime)) {
            assertEquals(
                    1,
                    thread.call(
                            () -> {
                                thread.use(1);
                                return DeviceFloats.currentDevice();
                            },
                            DeviceThreadTest.soon()));
            assertEquals(2, DeviceFloats.currentDevice());
        } finally {
            assertEquals(0, Cuda.cudaSetDevice(0));
        }
    }

    @Test
    void theDeviceIsSetOnceForManyCalls() throws Exception {
        NativeLog.start();
        try (DeviceThread thread = new DeviceThread("ferro-once-0-nccl", System::nanoTime)) {
            for (int i = 0; i < 10; i++) {
                thread.call(
                        () -> {
                            thread.use(3);
                            return null;
                        },
                        DeviceThreadTest.soon());
            }
        }
        assertEquals(1, NativeLog.count(NativeLog.stop(), "cudaSetDevice"));
    }

    @Test
    void onlyTheThreadItselfMaySelectItsDevice() {
        try (DeviceThread thread = new DeviceThread("ferro-only-0-nccl", System::nanoTime)) {
            assertRefused(IllegalStateException.class, () -> thread.use(1), "ferro-only-0-nccl");
        }
    }
}

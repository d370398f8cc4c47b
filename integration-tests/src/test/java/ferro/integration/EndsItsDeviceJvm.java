package ferro.integration;

import ferro.DataType;
import ferro.DeviceTensor;
import ferro.FerroException;
import ferro.HostTensor;
import ferro.Message;
import ferro.NcclBackend;
import ferro.ReduceOp;
import ferro.dispatch.DeviceMemories;
import ferro.dispatch.DeviceMemory;
import ferro.group.ProcessGroup;
import ferro.group.SystemContext;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Ranks with devices that end their JVMs: each as soon as its last call on its device has returned, in the way that the first
 * argument says, or rank 1 while the others are in a call with it.
 */
final class EndsItsDeviceJvm {
    private static final int ELEMENTS = 1000;
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    /** A rank that is late comes when rank 0 has gone, or after so long, as rank 0 waits for it. */
    private static final long LATE_MILLIS = 700;

    private final SystemContext context = SystemContext.ofProcess();
    private final ProcessGroup group = ProcessGroup.join();
    private final NcclBackend nccl = group.backend().asNcclBackend().orElseThrow();
    private final DeviceMemory memory = DeviceMemories.shared(context);
    private final DeviceTensor data = nccl.allocate(DataType.FLOAT32, ELEMENTS);

    private EndsItsDeviceJvm() {}

    public static void main(String[] arguments) throws Exception {
        EndsItsDeviceJvm rank = new EndsItsDeviceJvm();
        switch (arguments[0]) {
            case "close" -> {
                rank.leaveEarly();
                rank.group.close();
            }
            case "exit" -> {
                rank.leaveEarly();
                System.exit(0);
            }
            case "return" -> rank.leaveEarly();
            default -> rank.endInRankOne(arguments[0]);
        }
    }

    /** Rank 0 goes on when its data is handed on; the last rank asks for it when rank 0 may be gone. */
    private void leaveEarly() throws Exception {
        long[] pid = {ProcessHandle.current().pid()};
        group.broadcast(HostTensor.of(pid), 0);
        if (group.rank() == 0) {
            fill(7);
        }
        if (group.rank() == group.worldSize() - 1) {
            beLate(pid[0]);
        }
        group.broadcast(data, 0);
        System.out.println("has " + first());
    }

    private static void beLate(long pid) throws Exception {
        ProcessHandle first = ProcessHandle.of(pid).orElse(null);
        if (first == null) {
            return;
        }
        try {
            first.onExit().get(LATE_MILLIS, TimeUnit.MILLISECONDS);
        } catch (TimeoutException waits) {
            // it waits for this rank
        }
    }

    /** The end of rank 1 may reach a rank that has its sum but has not noticed so yet: then the first call fails. */
    private void endInRankOne(String how) throws InterruptedException {
        fill(group.rank() + 3);
        if (group.rank() != 1) {
            try {
                group.allReduce(data, ReduceOp.SUM);
                group.within(PATIENCE).allReduce(data, ReduceOp.SUM);
            } catch (FerroException failure) {
                Culprits.print(failure);
            }
            return;
        }
        group.allReduce(data, ReduceOp.SUM);
        if (how.equals("exit-in-call")) {
            nccl.submit(Message.recv(data, 0, 0), PATIENCE);
            System.exit(3);
        }
        System.out.println("pid: " + ProcessHandle.current().pid());
        new CountDownLatch(1).await();
    }

    private void fill(float value) {
        ByteBuffer bytes = buffer();
        while (bytes.hasRemaining()) {
            bytes.putFloat(value);
        }
        await(memory.toDevice(bytes.flip(), data));
    }

    private float first() {
        ByteBuffer bytes = buffer();
        await(memory.toHost(data, bytes));
        return bytes.getFloat(0);
    }

    private static ByteBuffer buffer() {
        return ByteBuffer.allocateDirect(ELEMENTS * Float.BYTES).order(ByteOrder.nativeOrder());
    }

    private static void await(DeviceMemory.Copy copy) {
        if (!copy.await(PATIENCE)) {
            throw new IllegalStateException("a copy is not done after " + PATIENCE);
        }
    }
}

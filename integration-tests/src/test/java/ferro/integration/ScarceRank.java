package ferro.integration;

import ferro.FerroException;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.group.Groups;
import ferro.group.ProcessGroup;
import ferro.group.SystemContext;
import ferro.spi.GroupSpec;
import java.io.FileInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/** A rank that uses something of its process up after joining, calls, and says how that ended. */
final class ScarceRank {
    private static final int STEADY_LOOKS = 30;
    private static final long LOOK_NANOS = 10_000_000L;

    static final Duration TIMEOUT = Duration.ofSeconds(60);
    static final int TAG = 3;

    private ScarceRank() {}

    public static void main(String[] arguments) throws IOException {
        int rank = Integer.parseInt(System.getenv("RANK"));
        SystemContext context = SystemContext.ofProcess();
        try (ProcessGroup group = Groups.join(GroupSpec.of("scarce", rank, 2, TIMEOUT), context)) {
            switch (arguments[0]) {
                case "memory" -> withoutMemory(group);
                case "subgroup" -> withoutDescriptors(group, 0, () -> group.newGroup(0, 1));
                case "links" ->
                    withoutDescriptors(group, Integer.parseInt(arguments[1]), () -> {
                        ProcessGroup made = group.newGroup(0, 1);
                        made.allReduce(new float[] {3, 5}, ReduceOp.SUM);
                    });
                default -> withoutDescriptors(group, 0, () -> group.recv(HostTensor.of(new int[1]), 1 - rank, TAG));
            }
        } catch (FerroException failure) {
            said(failure);
            return;
        }
        try (ProcessGroup again = Groups.join(GroupSpec.of("again", rank, 2, TIMEOUT), context)) {
            float[] data = {3, 5};
            again.allReduce(data, ReduceOp.SUM);
            System.out.println("again " + data[0]);
        }
        context.close();
    }

    private static void said(FerroException failure) {
        System.out.println("failed " + failure.code());
        System.out.println(failure.getMessage());
    }

    private static void withoutMemory(ProcessGroup group) throws IOException {
        List<ByteBuffer> held = memory();
        System.out.println("used up");
        try {
            group.allReduce(new float[] {3, 5}, ReduceOp.SUM);
            System.out.println("ended well");
        } catch (FerroException failure) {
            said(failure);
        }
        System.in.read();
        held.clear();
        System.gc();
    }

    /** In ever smaller pieces, so that nothing is left. */
    private static List<ByteBuffer> memory() {
        List<ByteBuffer> held = new ArrayList<>();
        for (int bytes = 1 << 20; bytes >= 1 << 10; bytes /= 32) {
            try {
                while (true) {
                    held.add(ByteBuffer.allocateDirect(bytes));
                }
            } catch (OutOfMemoryError full) {
                // that is what was wanted
            }
        }
        return held;
    }

    /**
     * Uses up all descriptors, shows that what is open goes on, and makes a call that needs more of them than are released
     * before it.
     */
    private static void withoutDescriptors(ProcessGroup group, int released, Runnable call) throws IOException {
        float[] data = {3, 5};
        group.allReduce(data, ReduceOp.SUM);
        List<FileInputStream> held = new ArrayList<>();
        // the connection to the store is closed in the background after joining: what comes free is taken too
        for (int full = 0; full < STEADY_LOOKS; full++) {
            full = takeAll(held) > 0 ? 0 : full;
            LockSupport.parkNanos(LOOK_NANOS);
        }
        System.out.println("used up");
        group.allReduce(data, ReduceOp.SUM);
        group.allReduce(data, ReduceOp.SUM);
        System.out.println("ended well");
        for (int one = 0; one < released; one++) {
            held.remove(held.size() - 1).close();
        }
        try {
            call.run();
            System.out.println("ended well");
        } catch (FerroException failure) {
            said(failure);
        }
        System.in.read();
        for (FileInputStream one : held) {
            one.close();
        }
    }

    private static int takeAll(List<FileInputStream> held) {
        int before = held.size();
        try {
            while (true) {
                held.add(new FileInputStream("/dev/null"));
            }
        } catch (IOException full) {
            return held.size() - before;
        }
    }
}

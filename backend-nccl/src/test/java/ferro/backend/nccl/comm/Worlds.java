package ferro.backend.nccl.comm;

import ferro.backend.nccl.Callers;
import ferro.backend.nccl.DeviceFloats;
import ferro.backend.nccl.NcclDataType;
import ferro.backend.nccl.NcclRedOp;
import ferro.backend.nccl.ffi.ResultChecker;
import ferro.backend.nccl.ffi.StandIn;
import ferro.backend.nccl.queue.CommIdentity;
import ferro.backend.nccl.queue.ControlMessenger;
import ferro.backend.nccl.queue.Deadline;
import ferro.backend.nccl.queue.GroupOrigin;
import ferro.backend.nccl.queue.NcclOperation;
import ferro.control.group.InProcessControlLanes;
import ferro.group.SystemContext;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** Communicators on the stand-in libraries, and what their tests share. */
public final class Worlds {
    private Worlds() {}

    static CommFactory factory() {
        return new CommFactory(StandIn.load(), System::nanoTime);
    }

    /** Returns a deadline that only a fault reaches. */
    static Deadline plenty() {
        return millis(20_000);
    }

    static Deadline millis(long millis) {
        return Deadline.after(Duration.ofMillis(millis), System::nanoTime);
    }

    /** Makes a world of one, which waits for nobody. */
    static Communicator alone() {
        return factory().rank(new CommIdentity("alone", 0, 1, 0), NcclUniqueId.made(), plenty());
    }

    public static RankContext context(String timeout) {
        Map<String, String> settings = new java.util.HashMap<>(StandIn.settings());
        settings.put("ferro.timeout", timeout);
        return SystemContext.of(settings);
    }

    /** Returns the control of a group of one rank. */
    static ControlMessenger control(CommIdentity identity) {
        SystemContext context = SystemContext.of(StandIn.settings());
        GroupSpec group = GroupSpec.of(identity.group(), 0, 1, Duration.ofSeconds(20));
        GroupOrigin position = GroupOrigin.unwatched(new InProcessControlLanes(1).lane(0, context.background()), group);
        return new ControlMessenger(position, identity, group.timeout(), context);
    }

    /** Joins both ranks of a new world of two. */
    static List<NcclRankComm> pair(String timeout) throws Exception {
        RankContext context = context(timeout);
        NcclUniqueId id = NcclUniqueId.generate(context);
        NcclRankComm[] made = new NcclRankComm[2];
        Callers.manyAtOnce(2, rank -> made[rank] = NcclRankComm.init(context, rank, 2, id, rank));
        return List.of(made);
    }

    /** Returns a batch of one in-place sum of floats on a stream, which is watched. */
    static Communicator.NativeBatch sum(DeviceFloats array, long stream) {
        return reduction(NcclRedOp.SUM, array, stream, new long[] {stream});
    }

    /** Returns the same, done as soon as NCCL has taken it. */
    static Communicator.NativeBatch unwatchedSum(DeviceFloats array, long stream) {
        return reduction(NcclRedOp.SUM, array, stream, null);
    }

    /** Returns a batch of one in-place average, watched. */
    static Communicator.NativeBatch average(DeviceFloats array, long stream) {
        return reduction(NcclRedOp.AVG, array, stream, new long[] {stream});
    }

    private static Communicator.NativeBatch reduction(NcclRedOp op, DeviceFloats array, long stream, long[] watched) {
        long at = array.tensor().address();
        long count = array.tensor().elementCount();
        Communicator.MemberCaller calls = (member, comm) -> ResultChecker.begun(
                ferro.backend.nccl.ffi.Nccl.ncclAllReduce(
                        at, at, count, NcclDataType.FLOAT32.code(), op.code(), comm, stream),
                "ncclAllReduce");
        return new Communicator.NativeBatch(NcclOperation.ALL_REDUCE, false, calls, watched);
    }

    static float[] repeated(int count, float value) {
        float[] values = new float[count];
        Arrays.fill(values, value);
        return values;
    }

    /** Returns the names of threads that begin so and live on after some seconds. */
    static List<String> lingering(String prefix) throws InterruptedException {
        Deadline deadline = plenty();
        List<String> names = threads(prefix);
        while (!names.isEmpty() && !deadline.passed()) {
            Thread.onSpinWait();
            Thread.yield();
            names = threads(prefix);
        }
        return names;
    }

    static List<String> threads(String prefix) {
        Thread[] all = new Thread[Thread.activeCount() + 64];
        int count = Thread.enumerate(all);
        return IntStream.range(0, count)
                .mapToObj(i -> all[i].getName())
                .filter(name -> name.startsWith(prefix))
                .toList();
    }
}

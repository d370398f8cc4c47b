package ferro.backend.nccl.comm;

import ferro.CallCounters;
import ferro.CallOptions;
import ferro.Collective;
import ferro.CollectiveBackend;
import ferro.DataType;
import ferro.DeviceTensor;
import ferro.FerroException;
import ferro.GroupEvent;
import ferro.Medium;
import ferro.Message;
import ferro.NcclBackend;
import ferro.ReduceOp;
import ferro.Work;
import ferro.backend.nccl.NcclStreamKind;
import ferro.backend.nccl.NcclVersion;
import ferro.backend.nccl.comm.MemberResources.MemberRendezvous;
import ferro.backend.nccl.comm.NativeCaller.NativeCall;
import ferro.backend.nccl.queue.CommIdentity;
import ferro.backend.nccl.queue.Deadline;
import ferro.backend.nccl.queue.GroupOrigin;
import ferro.backend.nccl.queue.NcclOperation;
import ferro.backend.nccl.queue.WorkQueue;
import ferro.control.failure.Machines;
import ferro.control.group.GroupControl;
import ferro.control.group.SubgroupAgreement;
import ferro.spi.GroupSpec;
import ferro.spi.LeakReport;
import ferro.spi.PlainLoggers;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Consumer;

/**
 * One rank of a group over NCCL, with its device, its stream and its queue; {@link NcclWorld} creates it.
 *
 * <p>Collectives accept device tensors. They also accept host tensors, which they copy through pooled device memory.
 * Collectives run one after the other on {@link #stream()}. Each call starts after the work that is on the device's
 * default stream when the call is issued. The group ends on every rank if a call passes its deadline, if a thread that
 * waits for a call is interrupted, or if NCCL fails a call. The communicator is then aborted, and control messages send
 * the reason to the other ranks.
 *
 * <p>Messages have the tag 0, and run on the same queue as collectives. A message that passes its deadline also ends
 * the group, since NCCL cannot cancel a receive. The length of a message of host memory is sent and checked. A message
 * of device memory must be received with the length that was sent.
 *
 * <p>Any thread may call. A collective allocates about 800 bytes in Java for device tensors, and 1,300 bytes for host
 * tensors (measured on JDK 17). It allocates no native memory after the first call of its size.
 */
public final class JnaNcclBackend implements NcclBackend {
    private static final System.Logger LOG = PlainLoggers.logger("ferro.backend.nccl");

    private final MemberResources member;
    private final WorkQueue queue;
    private final CallSubmitter calls;
    private final BackendCloser ending;
    private final LeakReport leak;

    JnaNcclBackend(MemberResources member) {
        this.member = member;
        calls = new CallSubmitter(member);
        queue = calls.queue();
        ending = new BackendCloser(member, queue, calls.stage());
        leak = LeakReport.watchAndFree(this, toString(), LOG, ending::close);
    }

    /** Registers the complete back end. If no caller closes it, it leaves the group when the JVM exits. */
    void opened() {
        ending.opened();
    }

    GroupControl control() {
        return queue.control().group();
    }

    private CommIdentity identity() {
        return queue.identity();
    }

    @Override
    public int rank() {
        return identity().rank();
    }

    @Override
    public int worldSize() {
        return identity().worldSize();
    }

    @Override
    public Duration timeout() {
        return member.timeout();
    }

    @Override
    public int device() {
        return identity().device();
    }

    @Override
    public Medium medium() {
        return new Medium("NCCL", List.of());
    }

    @Override
    public long stream() {
        return member.stream().handle();
    }

    /**
     * {@return the kind of {@link #stream()}: OWN, CALLER or DEFAULT. The kind is also DEFAULT if the runtime refused
     * to create a stream}
     */
    public NcclStreamKind streamKind() {
        return member.streamKind();
    }

    /**
     * {@return how many streams the device refused to create, 0 or 1; if 1, the group uses the default stream, and a
     * warning was logged}
     */
    public int streamDowngrades() {
        return member.downgrades();
    }

    /** {@return the release of the library} */
    public NcclVersion version() {
        return member.libraries().version();
    }

    // whole calls

    @Override
    public Optional<String> unsupportedBecause(Collective call) {
        return calls.unsupportedBecause(call);
    }

    @Override
    public Work submit(Collective call, CallOptions options) {
        return calls.submit(call, Objects.requireNonNull(options, "options"));
    }

    @Override
    public void barrier(Duration timeout) {
        run(Collective.barrier(), timeout);
    }

    @Override
    public void abort(Throwable cause) {
        queue.firstFailure().abort(cause);
    }

    @Override
    public Optional<FerroException> failure() {
        return Optional.ofNullable(queue.firstFailure().firstThrown());
    }

    @Override
    public void joinedBy(Thread thread) {
        queue.control().group().joinedBy(Objects.requireNonNull(thread, "thread"));
    }

    @Override
    public void onEvent(Consumer<GroupEvent> listener) {
        queue.firstFailure().listen(Objects.requireNonNull(listener, "listener"));
    }

    @Override
    public CallCounters counters() {
        return queue.recording().counters();
    }

    @Override
    public Path writeFlightRecord(Path folder) throws IOException {
        return queue.recording().write(Objects.requireNonNull(folder, "folder"));
    }

    @Override
    public void controlledBy(CollectiveBackend beside) {
        queue.firstFailure().controlledBy(Objects.requireNonNull(beside, "beside"));
    }

    // messages

    @Override
    public Work submit(Message message, CallOptions options) {
        Objects.requireNonNull(message, "message").requirePlain(this, options);
        return calls.submit(message, options);
    }

    @Override
    public Optional<String> noExchangeBecause() {
        return Optional.of("NCCL runs the messages of a rank one after another");
    }

    @Override
    public void send(ByteBuffer message, int to, int tag, Duration timeout) {
        calls.send(message, to, tag, timeout);
    }

    @Override
    public void recv(ByteBuffer message, int from, int tag, Duration timeout) {
        calls.recv(message, from, tag, timeout);
    }

    // raw calls

    @Override
    public DeviceTensor allocate(DataType dataType, long... shape) {
        Objects.requireNonNull(dataType, "dataType");
        return member.allocate(dataType, Objects.requireNonNull(shape, "shape"));
    }

    @Override
    public void allReduce(long in, long out, RawShape shape, ReduceOp op, long stream) {
        calls.raw(NativeCall.raw(NcclOperation.ALL_REDUCE, in, out, shape, op, -1), stream);
    }

    @Override
    public void broadcast(long in, long out, RawShape shape, int root, long stream) {
        calls.raw(NativeCall.raw(NcclOperation.BROADCAST, in, out, shape, null, root), stream);
    }

    @Override
    public void reduce(long in, long out, RawShape shape, RootedOp how, long stream) {
        Objects.requireNonNull(shape, "shape");
        Objects.requireNonNull(how, "how");
        calls.raw(NativeCall.raw(NcclOperation.REDUCE, in, out, shape, how.op(), how.root()), stream);
    }

    @Override
    public void allGather(long in, long out, RawShape shape, long stream) {
        calls.raw(NativeCall.raw(NcclOperation.ALL_GATHER, in, out, shape, null, -1), stream);
    }

    @Override
    public void reduceScatter(long in, long out, RawShape shape, ReduceOp op, long stream) {
        calls.raw(NativeCall.raw(NcclOperation.REDUCE_SCATTER, in, out, shape, op, -1), stream);
    }

    @Override
    public void gather(long in, long out, RawShape shape, int root, long stream) {
        calls.raw(NativeCall.raw(NcclOperation.GATHER, in, out, shape, null, root), stream);
    }

    @Override
    public void scatter(long in, long out, RawShape shape, int root, long stream) {
        calls.raw(NativeCall.raw(NcclOperation.SCATTER, in, out, shape, null, root), stream);
    }

    @Override
    public void allToAll(long in, long out, RawShape shape, long stream) {
        calls.raw(NativeCall.raw(NcclOperation.ALL_TO_ALL, in, out, shape, null, -1), stream);
    }

    @Override
    public void send(long in, RawShape shape, int to, long stream) {
        calls.raw(NativeCall.raw(NcclOperation.SEND, in, 0, shape, null, to), stream);
    }

    @Override
    public void recv(long out, RawShape shape, int from, long stream) {
        calls.raw(NativeCall.raw(NcclOperation.RECV, 0, out, shape, null, from), stream);
    }

    @Override
    public void copy(long in, long out, RawShape shape, long stream) {
        calls.copy(in, out, shape, stream);
    }

    @Override
    public void grouped(Runnable body) {
        calls.grouped(body);
    }

    @Override
    public void waitFor(long before, long stream) {
        calls.waitFor(before, stream);
    }

    @Override
    public void synchronize(long stream) {
        calls.synchronize(stream);
    }

    // groups and the end

    @Override
    public CollectiveBackend newGroup(int[] ranks, String name, Duration timeout) {
        Objects.requireNonNull(ranks, "ranks");
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(timeout, "timeout");
        queue.refuse(NcclOperation.NEW_GROUP);
        int[] members = ranks.clone();
        SubgroupAgreement agreement = control().agreement();
        int rank = agreement.position(members);
        Deadline deadline = queue.deadline(timeout);
        agreement.making().begun();
        try {
            long agreed = agreement.reach(member.keys().position().identity(), members, timeout);
            JnaNcclBackend made = joined(members, rank, name, agreed, deadline);
            agreement.made().opened(agreed, made.control());
            return made;
        } finally {
            agreement.making().ended();
        }
    }

    /** Joins a subgroup after its ranks have agreed to create it. The first rank creates an id for the other ranks. */
    private JnaNcclBackend joined(int[] members, int rank, String name, long agreed, Deadline deadline) {
        GroupSpec group = GroupSpec.of(identity().group() + name, rank, members.length, member.timeout());
        MemberRendezvous keys = member.keys();
        String base = keys.base() + "/" + Long.toHexString(agreed);
        GroupOrigin position = keys.position().child(agreed, members);
        String self = Machines.named(
                Set.of(rank), position.ranks(), position.joined().processes().group());
        CommIdentity identity = new CommIdentity(group.name(), rank, members.length, device(), self);
        try {
            NcclUniqueId id = id(base + "/id", rank == 0, deadline);
            Communicator comm = CommFactory.of(member.context()).rank(identity, id, deadline);
            OptionalLong stream = member.stream().owned() ? OptionalLong.empty() : OptionalLong.of(stream());
            return new NcclJoin(group, member.context(), stream, group.timeout())
                    .assemble(comm, new MemberRendezvous(keys.ids(), base, keys.left(), position));
        } catch (RuntimeException | Error failure) {
            position.lane().close();
            throw failure;
        }
    }

    private NcclUniqueId id(String key, boolean isFirst, Deadline deadline) {
        try {
            return member.keys().ids().meet(key, isFirst, deadline);
        } catch (FerroException late) {
            if (!isFirst) {
                queue.refuse(NcclOperation.NEW_GROUP);
            }
            throw late;
        }
    }

    @Override
    public void close() {
        close(BackendCloser.BOUND);
    }

    @Override
    public void leave(Duration timeout) {
        ending.leave(timeout);
    }

    /**
     * Waits for queued work and sends goodbye, then waits for the goodbyes of the other ranks. Then finalizes and
     * destroys the communicator, and frees the stream. Calls that are still pending at the timeout fail with ABORTED.
     * If a rank has not sent goodbye at the timeout, the communicator is aborted. While another group of the same join
     * is open, the close of a group waits for no rank. The communicator of the closed group then exists until all its
     * ranks have left, at most until the last group is closed. Idempotent; also required after a failure.
     */
    @Override
    public void close(Duration timeout) {
        Objects.requireNonNull(timeout, "timeout");
        leak.closed();
        ending.close(timeout);
    }

    /** Returns group, rank and device, but nothing about the rendezvous. */
    @Override
    public String toString() {
        return "JnaNcclBackend[" + identity() + " of " + worldSize() + ", device " + device() + "]";
    }
}

package ferro.backend.nccl;

import ferro.Collective;
import ferro.CollectiveBackend;
import ferro.DataType;
import ferro.DeviceTensor;
import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.GroupEvent;
import ferro.HostTensor;
import ferro.InvalidRankException;
import ferro.Medium;
import ferro.NcclBackend;
import ferro.ReduceOp;
import ferro.Tensor;
import ferro.Work;
import ferro.backend.nccl.CollectiveCalls.CallMemory;
import ferro.backend.nccl.RawCalls.PartCounts;
import ferro.backend.nccl.RawCalls.Raw;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * One rank of a group over NCCL, with its device, its stream and its queue; made by {@link NcclWorld}.
 *
 * <p>Whole calls take device tensors, and host tensors through pooled device memory. They run one after the other on
 * {@link #stream()}. Each starts after the work that the device's default stream holds when the call is issued. A call
 * that passes its deadline, whose waiting thread is interrupted or that NCCL fails ends the group on every rank: the
 * communicator is aborted, and the other ranks read the reason in the store, a quarter of a second after their own call
 * has stalled.
 *
 * <p>Messages have the tag 0, run in the same order as collectives, and also end the group at their deadline, since
 * NCCL cannot cancel a receive. Messages of host memory carry their length; messages of device memory must be received
 * with the length that was sent.
 *
 * <p>Any thread may call. A whole call allocates about 800 bytes in Java on device tensors, 1,300 on host tensors
 * (measured on JDK 17), and nothing natively once a call of that size has been made.
 */
public final class JnaNcclBackend implements NcclBackend {
    private static final Duration SETTLE_BOUND = Duration.ofSeconds(15);

    private final NcclMember member;
    private final NcclChecks checks;
    private final CollectiveCalls calls;
    private final NcclLane lane;
    private final WorkQueue queue;
    private final HostStage stage;
    private final RawCalls raw;
    private final NewGroups subgroups;
    private final BackendEnding ending;
    private final LeakReport leak;

    JnaNcclBackend(NcclMember member) {
        this.member = member;
        CommPlace place = member.comm().handle().place();
        LoadedLibraries libraries = member.libraries();
        checks = new NcclChecks(place, libraries);
        calls = new CollectiveCalls(place, checks.elements(), libraries::has);
        lane = new NcclLane(member.comm(), member.stream().handle(), calls);
        stage = new HostStage(member.memory(), place.device(), member.stageBytes());
        queue = new WorkQueue(member.comm(), new FailureRecords(member.store(), member.base(), place));
        queue.recordedAs(member.context(), member.ranks());
        raw = new RawCalls(queue, lane, checks, member.timeout());
        subgroups = new NewGroups(member, queue);
        ending = new BackendEnding(member, queue, stage, subgroups::isUnderWay);
        leak = LeakReport.watch(this, toString(), ending::close);
    }

    /** Registers the finished back end: from now on it must be closed, or it leaves when the JVM exits. */
    void opened() {
        member.family().opened(ending, member.isJoined());
    }

    private CommPlace place() {
        return queue.place();
    }

    @Override
    public int rank() {
        return place().rank();
    }

    @Override
    public int worldSize() {
        return place().worldSize();
    }

    @Override
    public Duration timeout() {
        return member.timeout();
    }

    @Override
    public int device() {
        return place().device();
    }

    @Override
    public Medium medium() {
        return new Medium("NCCL", List.of());
    }

    @Override
    public long stream() {
        return lane.stream();
    }

    /**
     * Returns the owner of the stream {@link #stream()}.
     *
     * @return own or caller's; the default one also if the runtime refused an own stream
     */
    public NcclStreamKind streamKind() {
        return NcclStreamKind.of(member.stream());
    }

    /**
     * Returns how often the default stream was used because the device refused an own stream; each time logged a
     * warning.
     *
     * @return 0 or 1
     */
    public int streamDowngrades() {
        return member.streamDowngrades();
    }

    /**
     * Returns the release of the library.
     *
     * @return release
     */
    public NcclVersion version() {
        return member.libraries().version();
    }

    // whole calls

    @Override
    public Optional<String> unsupportedBecause(Collective call) {
        return checks.unsupportedBecause(Objects.requireNonNull(call, "call"));
    }

    @Override
    public Work submit(Collective call, Duration timeout) {
        NcclOperation operation = NcclOperation.of(Objects.requireNonNull(call, "call"));
        check(call, operation);
        NcclJob job = call.operand() instanceof HostTensor
                ? new HostJob(lane, operation, stage, new CollectiveRounds(call, place(), stage, calls))
                : new DeviceJob(lane, operation, deviceCalls(call), call.in(), call.out());
        int size = worldSize();
        NcclWork.Title title =
                new NcclWork.Title(operation, () -> CollectivePrint.of(call, size), -1, bytes(call.operand()));
        return queue.submit(title, job, timeout);
    }

    /**
     * Checks a whole call before it goes to NCCL. This is the only check, whichever method makes the call. Its order is
     * that of every path for device tensors.
     */
    private void check(Collective call, NcclOperation operation) {
        if (call.kind().isRooted()) {
            InvalidRankException.check(call.root(), worldSize());
        }
        Optional<String> refusal = unsupportedBecause(call);
        if (refusal.isPresent()) {
            throw new UnsupportedOperationException(place().during(operation) + ": " + refusal.get());
        }
        call.check(rank(), worldSize());
        checks.memory(call);
    }

    /** Returns the native calls. A barrier uses memory of the stage, which only the device thread may ask for. */
    private Supplier<NcclLane.LaneCalls> deviceCalls(Collective call) {
        if (call.operand() == null) {
            return () -> calls.of(call, new CallMemory(stage.cell(), stage.cell(), 1, DataType.FLOAT32));
        }
        long part = CollectivePrint.partOf(call, worldSize());
        DataType type = call.operand().dataType();
        NcclLane.LaneCalls made = calls.of(call, new CallMemory(address(call.in()), address(call.out()), part, type));
        return () -> made;
    }

    private static long bytes(Tensor tensor) {
        return tensor == null ? 0 : tensor.elementCount() * tensor.dataType().byteSize();
    }

    private static long address(Tensor tensor) {
        return tensor instanceof DeviceTensor on ? on.address() : 0;
    }

    @Override
    public void barrier(Duration timeout) {
        run(new Collective.Barrier(), timeout);
    }

    @Override
    public void abort(Throwable cause) {
        String self = Integer.toString(rank());
        String text = "aborted by rank " + self + ": " + (cause == null ? "no cause given" : cause.getMessage());
        queue.fail(new GroupFailure(Code.ABORTED, self, text, cause));
        queue.awaitSettled(queue.deadline(SETTLE_BOUND));
    }

    @Override
    public Optional<FerroException> failure() {
        return Optional.ofNullable(queue.firstThrown());
    }

    @Override
    public void onEvent(Consumer<GroupEvent> listener) {
        queue.listeners().add(Objects.requireNonNull(listener, "listener"));
    }

    @Override
    public Path writeFlightRecord(Path folder) throws IOException {
        return queue.recording().write(Objects.requireNonNull(folder, "folder"));
    }

    @Override
    public void controlledBy(CollectiveBackend beside) {
        queue.controlledBy(new HostHalf(Objects.requireNonNull(beside, "beside"), member.context()::nanoTime));
    }

    // messages

    @Override
    public Work send(Tensor tensor, int to, int tag, Duration timeout) {
        checkMessage(NcclOperation.SEND, Objects.requireNonNull(tensor, "tensor"), to, tag);
        NcclJob job = tensor instanceof HostTensor host
                ? new HostJob(lane, NcclOperation.SEND, stage, new SendRounds(host, to, stage, calls))
                : new DeviceJob(lane, NcclOperation.SEND, () -> calls.send(memory(tensor), to), tensor);
        Supplier<String> words = () -> "send of " + tensor + " to rank " + to;
        return queue.submit(new NcclWork.Title(NcclOperation.SEND, words, to, bytes(tensor)), job, timeout);
    }

    @Override
    public Work recv(Tensor tensor, int from, int tag, Duration timeout) {
        checkMessage(NcclOperation.RECV, Objects.requireNonNull(tensor, "tensor"), from, tag);
        NcclJob job = tensor instanceof HostTensor host
                ? new HostJob(lane, NcclOperation.RECV, stage, new ReceiveRounds(host, from, stage, calls))
                : new DeviceJob(lane, NcclOperation.RECV, () -> calls.receive(memory(tensor), from), tensor);
        Supplier<String> words = () -> "receive of " + tensor + " from rank " + from;
        return queue.submit(new NcclWork.Title(NcclOperation.RECV, words, from, bytes(tensor)), job, timeout);
    }

    /** Returns the memory of a message. A message reduces nothing, so that it can have types that NCCL does not know. */
    private static CallMemory memory(Tensor tensor) {
        DeviceTensor on = (DeviceTensor) tensor;
        return new CallMemory(on.address(), on.address(), on.byteCount(), DataType.INT8);
    }

    private void checkMessage(NcclOperation operation, Tensor tensor, int peer, int tag) {
        InvalidRankException.check(peer, worldSize());
        checks.messages(operation, tag);
        checks.notToSelf(operation, peer);
        if (tensor instanceof DeviceTensor on) {
            checks.tensor(operation, on);
        }
    }

    @Override
    public void send(ByteBuffer message, int to, int tag, Duration timeout) {
        Objects.requireNonNull(message, "message");
        checkMessage(NcclOperation.SEND, null, to, tag);
        send(bytes(message.isReadOnly() ? copy(message) : message), to, tag, timeout)
                .await();
        message.position(message.limit());
    }

    @Override
    public void recv(ByteBuffer message, int from, int tag, Duration timeout) {
        if (Objects.requireNonNull(message, "message").isReadOnly()) {
            throw new IllegalArgumentException(
                    "cannot receive into a read-only buffer of " + message.remaining() + " bytes");
        }
        recv(bytes(message), from, tag, timeout).await();
        message.position(message.limit());
    }

    private static HostTensor bytes(ByteBuffer message) {
        if (message.hasArray()) {
            int start = message.arrayOffset() + message.position();
            return HostTensor.of(DataType.INT8, message.array(), start, message.remaining());
        }
        return HostTensor.of(DataType.INT8, message.duplicate().order(ByteOrder.nativeOrder()));
    }

    private static ByteBuffer copy(ByteBuffer message) {
        return ByteBuffer.allocate(message.remaining()).put(message.duplicate()).flip();
    }

    // raw calls

    @Override
    public DeviceTensor allocate(DataType dataType, long... shape) {
        Objects.requireNonNull(dataType, "dataType");
        return member.memory().allocate(dataType, Objects.requireNonNull(shape, "shape"), device());
    }

    @Override
    public void allReduce(long in, long out, RawShape shape, ReduceOp op, long stream) {
        Raw call = new Raw(NcclOperation.ALL_REDUCE, in, out, shape, stream);
        raw.check(call, new PartCounts(1, 1), Objects.requireNonNull(op, "op"));
        raw.make(call, calls.allReduce(call.memory(), op));
    }

    @Override
    public void broadcast(long in, long out, RawShape shape, int root, long stream) {
        Raw call = new Raw(NcclOperation.BROADCAST, in, out, shape, stream);
        raw.checkRank(root);
        raw.check(call, new PartCounts(rank() == root ? 1 : 0, 1), null);
        raw.make(call, calls.broadcast(call.memory(), root));
    }

    @Override
    public void reduce(long in, long out, RawShape shape, RootedOp how, long stream) {
        Raw call = new Raw(NcclOperation.REDUCE, in, out, shape, stream);
        raw.checkRank(Objects.requireNonNull(how, "how").root());
        raw.check(call, new PartCounts(1, rank() == how.root() ? 1 : 0), how.op());
        raw.make(call, calls.reduce(call.memory(), how.op(), how.root()));
    }

    @Override
    public void allGather(long in, long out, RawShape shape, long stream) {
        Raw call = new Raw(NcclOperation.ALL_GATHER, in, out, shape, stream);
        raw.check(call, new PartCounts(1, worldSize()), null);
        raw.make(call, calls.allGather(call.memory()));
    }

    @Override
    public void reduceScatter(long in, long out, RawShape shape, ReduceOp op, long stream) {
        Raw call = new Raw(NcclOperation.REDUCE_SCATTER, in, out, shape, stream);
        raw.check(call, new PartCounts(worldSize(), 1), Objects.requireNonNull(op, "op"));
        raw.make(call, calls.reduceScatter(call.memory(), op));
    }

    @Override
    public void gather(long in, long out, RawShape shape, int root, long stream) {
        Raw call = new Raw(NcclOperation.GATHER, in, out, shape, stream);
        raw.checkRank(root);
        raw.check(call, new PartCounts(1, rank() == root ? worldSize() : 0), null);
        raw.checkSupported(call);
        raw.make(call, calls.gather(call.memory(), root));
    }

    @Override
    public void scatter(long in, long out, RawShape shape, int root, long stream) {
        Raw call = new Raw(NcclOperation.SCATTER, in, out, shape, stream);
        raw.checkRank(root);
        raw.check(call, new PartCounts(rank() == root ? worldSize() : 0, 1), null);
        raw.checkSupported(call);
        raw.make(call, calls.scatter(call.memory(), root));
    }

    @Override
    public void allToAll(long in, long out, RawShape shape, long stream) {
        Raw call = new Raw(NcclOperation.ALL_TO_ALL, in, out, shape, stream);
        raw.check(call, new PartCounts(worldSize(), worldSize()), null);
        raw.checkSupported(call);
        raw.make(call, calls.allToAll(call.memory()));
    }

    @Override
    public void send(long in, RawShape shape, int to, long stream) {
        Raw call = new Raw(NcclOperation.SEND, in, 0, shape, stream);
        raw.checkRank(to);
        checks.messages(call.operation(), 0);
        raw.check(call, new PartCounts(1, 0), null);
        raw.make(call, calls.send(call.memory(), to));
    }

    @Override
    public void recv(long out, RawShape shape, int from, long stream) {
        Raw call = new Raw(NcclOperation.RECV, 0, out, shape, stream);
        raw.checkRank(from);
        checks.messages(call.operation(), 0);
        raw.check(call, new PartCounts(0, 1), null);
        raw.make(call, calls.receive(call.memory(), from));
    }

    @Override
    public void copy(long in, long out, RawShape shape, long stream) {
        raw.copy(new Raw(NcclOperation.COPY, in, out, shape, stream));
    }

    @Override
    public void grouped(Runnable body) {
        raw.grouped(Objects.requireNonNull(body, "body"));
    }

    @Override
    public void waitFor(long before, long stream) {
        raw.waitFor(before, stream);
    }

    @Override
    public void synchronize(long stream) {
        raw.synchronize(stream);
    }

    // groups and the end

    @Override
    public CollectiveBackend newGroup(int[] ranks, String name, Duration timeout) {
        Objects.requireNonNull(ranks, "ranks");
        Objects.requireNonNull(name, "name");
        return subgroups.make(ranks, name, Objects.requireNonNull(timeout, "timeout"));
    }

    @Override
    public void close() {
        close(BackendEnding.BOUND);
    }

    @Override
    public void leave(Duration timeout) {
        ending.leave(timeout);
    }

    /**
     * Waits for queued work and says goodbye, waits until the other ranks have said it too, then finalizes, destroys,
     * and frees the stream. Calls that are still pending at the bound fail with ABORTED. The communicator is aborted if
     * not all its ranks have said goodbye by then. The close of a subgroup waits for no rank: its communicator lives
     * until its ranks have left it, at most until the close of the joined group. Idempotent; needed after a failure
     * too.
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
        return "JnaNcclBackend[" + place() + " of " + worldSize() + ", device " + device() + "]";
    }
}

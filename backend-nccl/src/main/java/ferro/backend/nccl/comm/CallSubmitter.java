package ferro.backend.nccl.comm;

import ferro.CallOptions;
import ferro.Collective;
import ferro.CollectiveBackend;
import ferro.CollectiveKind;
import ferro.CollectiveKind.DataShare;
import ferro.DataType;
import ferro.DeviceTensor;
import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.HostTensor;
import ferro.InvalidRankException;
import ferro.Message;
import ferro.NcclBackend.RawShape;
import ferro.Tensor;
import ferro.TensorMemory;
import ferro.Work;
import ferro.backend.nccl.NcclException;
import ferro.backend.nccl.comm.Communicator.NativeBatch;
import ferro.backend.nccl.comm.NativeCaller.NativeCall;
import ferro.backend.nccl.comm.NcclCallChecker.Span;
import ferro.backend.nccl.ffi.Cuda;
import ferro.backend.nccl.ffi.ResultChecker;
import ferro.backend.nccl.memory.HostStagingBlocks;
import ferro.backend.nccl.queue.CollectiveFingerprint;
import ferro.backend.nccl.queue.CommIdentity;
import ferro.backend.nccl.queue.ControlMessenger;
import ferro.backend.nccl.queue.NativeOperation;
import ferro.backend.nccl.queue.NcclFailureFactory;
import ferro.backend.nccl.queue.NcclOperation;
import ferro.backend.nccl.queue.OperationInfo;
import ferro.backend.nccl.queue.WorkQueue;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/**
 * The calls of one rank. Each call is checked on the caller's thread. A collective or a message is submitted to the
 * queue. A raw call, which has device pointers, is made on the device thread and does not wait for the device.
 */
final class CallSubmitter {
    /** Codes of the failures of a raw call that make the communicator unusable. */
    private static final Set<Code> FATAL = EnumSet.of(Code.TIMED_OUT, Code.INTERRUPTED, Code.NATIVE);

    private final WorkQueue queue;
    private final CommStream lane;
    private final NcclCallChecker checks;
    private final NativeCaller calls;
    private final HostStagingBlocks stage;
    private final Duration timeout;

    /** Opens the queue of calls of a rank, and creates the objects that its calls need. */
    CallSubmitter(MemberResources member) {
        CommIdentity identity = member.comm().identity();
        checks = new NcclCallChecker(identity, member.libraries());
        calls = new NativeCaller(identity, checks);
        lane = new CommStream(member.comm(), member.stream().handle());
        stage = new HostStagingBlocks(member.memory(), identity.device(), MemberResources.STAGE_BYTES);
        timeout = member.timeout();
        queue = new WorkQueue(
                member.comm(), new ControlMessenger(member.keys().position(), identity, timeout, member.context()));
    }

    WorkQueue queue() {
        return queue;
    }

    HostStagingBlocks stage() {
        return stage;
    }

    private CommIdentity identity() {
        return queue.identity();
    }

    private int worldSize() {
        return identity().worldSize();
    }

    /** Returns why this rank cannot make a collective; empty if it can. */
    Optional<String> unsupportedBecause(Collective call) {
        return checks.unsupportedBecause(Objects.requireNonNull(call, "call"));
    }

    Work submit(Collective call, CallOptions options) {
        NcclOperation operation = NcclOperation.of(Objects.requireNonNull(call, "call"));
        check(call, operation);
        NativeOperation job = call.operand() instanceof HostTensor
                ? new HostOperation(lane, operation, stage, new PiecewiseHostCall(call, stage, calls))
                : new DeviceOperation(lane, operation, onDevice(call), call.in(), call.out());
        String label = options.label();
        CollectiveFingerprint print = CollectiveFingerprint.of(call, label, worldSize());
        long contributed = bytes(call.reads(identity().rank()));
        return queue.submit(
                new OperationInfo(operation, label, print, -1, bytes(call.operand()), contributed),
                job,
                options.timeout());
    }

    /**
     * Checks a collective before it is passed to NCCL. All methods use only this check. The checks have the same order
     * as everywhere else in ferro where device tensors are checked.
     */
    private void check(Collective call, NcclOperation operation) {
        if (call.kind().isRooted()) {
            InvalidRankException.check(operation.label(), "root", call.root(), worldSize());
        }
        Optional<String> refusal = unsupportedBecause(call);
        if (refusal.isPresent()) {
            throw new UnsupportedOperationException(identity().during(operation) + ": " + refusal.get());
        }
        call.check(identity().rank(), worldSize());
        checks.memory(call);
    }

    /**
     * Returns the native calls. A barrier uses an element of the staging memory, which only the device thread may
     * allocate.
     */
    private Supplier<CommStream.StreamCaller> onDevice(Collective call) {
        if (call.operand() == null) {
            return () -> calls.of(NativeCall.barrier(stage.cell()));
        }
        long part = CollectiveFingerprint.partOf(call, worldSize());
        CommStream.StreamCaller made = calls.of(NativeCall.of(call, address(call.in()), address(call.out()), part));
        return () -> made;
    }

    private static long bytes(Tensor tensor) {
        return tensor == null ? 0 : tensor.elementCount() * tensor.dataType().byteSize();
    }

    private static long address(Tensor tensor) {
        return tensor instanceof DeviceTensor on ? on.address() : 0;
    }

    // messages

    Work submit(Message message, CallOptions options) {
        Tensor tensor = message.tensor();
        int peer = message.peer();
        boolean sends = message.kind().isSend();
        if (!sends && (peer == CollectiveBackend.ANY_SOURCE || message.tag() == CollectiveBackend.ANY_TAG)) {
            throw new UnsupportedOperationException(options.named("receive")
                    + " from any rank or with any tag: NCCL receives from one rank, and its messages have no tags");
        }
        NcclOperation operation = sends ? NcclOperation.SEND : NcclOperation.RECV;
        check(operation, tensor, peer, message.tag());
        NativeOperation job = tensor instanceof HostTensor
                ? new HostOperation(lane, operation, stage, new PiecewiseHostCall(message, stage, calls))
                : new DeviceOperation(
                        lane,
                        operation,
                        () -> calls.of(NativeCall.message(operation, address(tensor), bytes(tensor), peer)),
                        tensor);
        Supplier<String> words = () -> options.named(sends ? "send" : "receive") + " of " + tensor
                + (sends ? " to" : " from") + " rank " + peer;
        long bytes = bytes(tensor);
        return queue.submit(
                new OperationInfo(operation, options.label(), words, peer, bytes, bytes), job, options.timeout());
    }

    private void check(NcclOperation operation, Tensor tensor, int peer, int tag) {
        InvalidRankException.check(operation.label(), operation.peerName(), peer, worldSize());
        checks.messages(operation, tag);
        checks.notToSelf(operation, peer);
        checks.tensor(operation, tensor);
        if (tensor instanceof HostTensor host) {
            TensorMemory.checkUsable(host, operation.label(), "tensor", operation == NcclOperation.RECV);
        }
    }

    /** Sends the bytes of a buffer between position and limit, and waits until the send has ended. */
    void send(ByteBuffer message, int to, int tag, Duration within) {
        Objects.requireNonNull(message, "message");
        check(NcclOperation.SEND, null, to, tag);
        HostTensor data = tensor(message.isReadOnly() ? copy(message) : message);
        submit(Message.send(data, to, tag), CallOptions.of(within)).await();
        message.position(message.limit());
    }

    /** Receives bytes into a buffer between position and limit, and waits until they have arrived. */
    void recv(ByteBuffer message, int from, int tag, Duration within) {
        if (Objects.requireNonNull(message, "message").isReadOnly()) {
            throw new IllegalArgumentException(
                    "cannot receive into a read-only buffer of " + message.remaining() + " bytes");
        }
        submit(Message.recv(tensor(message), from, tag), CallOptions.of(within)).await();
        message.position(message.limit());
    }

    private static HostTensor tensor(ByteBuffer message) {
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

    /**
     * Makes a raw collective or message, after all calls that were submitted earlier. Before that, checks rank,
     * pointers, count, type and overlap.
     */
    void raw(NativeCall call, long stream) {
        NcclOperation operation = call.operation();
        if (operation.peerName() != null) {
            InvalidRankException.check(operation.label(), operation.peerName(), call.peer(), worldSize());
        }
        CollectiveKind kind = operation.kind();
        if (kind == null) {
            checks.messages(operation, 0);
        }
        checks.bytes(call, worldSize());
        checks.types(call.type(), call.op());
        boolean sends = operation == NcclOperation.SEND;
        Span in = new Span(call.in(), checks.bytes(call, kind == null ? sends ? 1 : 0 : parts(call, kind.in())));
        Span out = new Span(call.out(), checks.bytes(call, kind == null ? sends ? 0 : 1 : parts(call, kind.out())));
        checks.pointer(operation, "in", in);
        checks.pointer(operation, "out", out);
        checks.overlap(operation, in, out);
        checks.rooted(operation);
        CommStream.StreamCaller made = calls.of(call);
        queue.refuse(operation);
        queue.rawCall(operation, stream);
        run(new NativeBatch(operation, false, (member, comm) -> made.make(comm, stream), null));
    }

    /**
     * Returns how many parts of data this rank reads or writes in a raw call; 0 if none. Unlike other broadcasts, a raw
     * broadcast also writes on the root.
     */
    private int parts(NativeCall call, DataShare held) {
        boolean has = held == DataShare.ALL_OFF_ROOT || held.has(identity().rank() == call.peer());
        return has ? NativeCaller.parts(call.operation().kind(), held, worldSize()) : 0;
    }

    void grouped(Runnable body) {
        Objects.requireNonNull(body, "body");
        run(new NativeBatch(NcclOperation.GROUP, true, (member, comm) -> body.run(), null));
    }

    void copy(long in, long out, RawShape shape, long stream) {
        NativeCall call = NativeCall.raw(NcclOperation.COPY, in, out, shape, null, -1);
        long bytes = checks.bytes(call, 1);
        Span from = new Span(in, bytes);
        Span to = new Span(out, bytes);
        checks.pointer(NcclOperation.COPY, "in", from);
        checks.pointer(NcclOperation.COPY, "out", to);
        if (from.meets(to)) {
            throw new IllegalArgumentException(
                    identity().during(NcclOperation.COPY) + ": the " + bytes + " bytes of in and out overlap");
        }
        run(new NativeBatch(
                NcclOperation.COPY,
                false,
                (member, comm) -> ResultChecker.cuda(
                        Cuda.cudaMemcpyAsync(out, in, bytes, Cuda.DEVICE_TO_DEVICE, stream), "cudaMemcpyAsync D2D"),
                null));
    }

    void waitFor(long before, long stream) {
        run(new NativeBatch(NcclOperation.PREPARE, false, (member, comm) -> lane.order(before, stream), null));
    }

    void synchronize(long stream) {
        // the raw calls are removed before the wait, so that a raw call that another thread makes during the wait stays
        // registered
        queue.rawPassed(stream);
        run(new NativeBatch(NcclOperation.SYNCHRONIZE, false, (member, comm) -> {}, new long[] {stream}));
    }

    /**
     * Runs a batch. If a call is cut off or has a fatal native failure, ends the group, because the ranks are then in
     * different states. If NCCL only refuses an argument, the group continues.
     */
    private void run(NativeBatch batch) {
        queue.refuse(batch.operation());
        try {
            lane.comm().run(batch, queue.deadline(timeout));
        } catch (FerroException failure) {
            boolean refused = failure instanceof NcclException nccl && !Communicator.isFatal(nccl.result());
            if (FATAL.contains(failure.code())
                    && !refused
                    && !lane.comm().thread().isCurrent()) {
                queue.fail(NcclFailureFactory.natively(
                        failure.code(),
                        failure.getMessage(),
                        failure,
                        identity().rank()));
            }
            throw failure;
        }
    }
}

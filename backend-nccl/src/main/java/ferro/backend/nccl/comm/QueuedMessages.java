package ferro.backend.nccl.comm;

import ferro.CallOptions;
import ferro.CollectiveBackend;
import ferro.DataType;
import ferro.DeviceTensor;
import ferro.HostTensor;
import ferro.InvalidRankException;
import ferro.Message;
import ferro.Tensor;
import ferro.TensorMemory;
import ferro.Work;
import ferro.backend.nccl.comm.CollectiveCalls.CallMemory;
import ferro.backend.nccl.memory.HostStage;
import ferro.backend.nccl.queue.NcclJob;
import ferro.backend.nccl.queue.NcclOperation;
import ferro.backend.nccl.queue.NcclTitle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.Objects;
import java.util.function.Supplier;

/** Messages between two ranks: checks each on the caller's thread, makes it a job, and queues the job. */
final class QueuedMessages {
    private final OperationParts parts;

    QueuedMessages(OperationParts parts) {
        this.parts = parts;
    }

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
        CollectiveCalls calls = parts.calls();
        HostStage stage = parts.stage();
        NcclJob job;
        if (tensor instanceof HostTensor host) {
            HostJob.Rounds rounds = sends
                    ? new SendRounds(host, peer, stage, calls)
                    : new ReceiveRounds(host, peer, stage, calls, parts.identity());
            job = new HostJob(parts.lane(), operation, stage, rounds);
        } else {
            Supplier<NcclLane.LaneCalls> call =
                    () -> sends ? calls.send(memory(tensor), peer) : calls.receive(memory(tensor), peer);
            job = new DeviceJob(parts.lane(), operation, call, tensor);
        }
        Supplier<String> words = () -> options.named(sends ? "send" : "receive") + " of " + tensor
                + (sends ? " to" : " from") + " rank " + peer;
        NcclTitle title = new NcclTitle(operation, options.label(), words, peer, bytes(tensor));
        return parts.queue().submit(title, job, options.timeout());
    }

    /** Returns the memory of a message. A message reduces nothing, so that it can have types that NCCL does not know. */
    private static CallMemory memory(Tensor tensor) {
        DeviceTensor on = (DeviceTensor) tensor;
        return new CallMemory(on.address(), on.address(), on.byteCount(), DataType.INT8);
    }

    private static NcclTitle.DataBytes bytes(Tensor tensor) {
        return NcclTitle.DataBytes.of(tensor.elementCount() * tensor.dataType().byteSize());
    }

    private void check(NcclOperation operation, Tensor tensor, int peer, int tag) {
        InvalidRankException.check(
                operation.label(),
                operation == NcclOperation.RECV ? "from" : "to",
                peer,
                parts.identity().worldSize());
        parts.checks().messages(operation, tag);
        parts.checks().notToSelf(operation, peer);
        if (tensor instanceof DeviceTensor on) {
            parts.checks().tensor(operation, on);
        } else if (tensor instanceof HostTensor host) {
            TensorMemory.checkUsable(host, operation.label(), "tensor", operation == NcclOperation.RECV);
        }
    }

    /** Sends the bytes of a buffer between position and limit, and waits. */
    void send(ByteBuffer message, int to, int tag, Duration timeout) {
        Objects.requireNonNull(message, "message");
        check(NcclOperation.SEND, null, to, tag);
        HostTensor data = tensor(message.isReadOnly() ? copy(message) : message);
        submit(Message.send(data, to, tag), CallOptions.of(timeout)).await();
        message.position(message.limit());
    }

    /** Receives the bytes of a buffer between position and limit, and waits. */
    void recv(ByteBuffer message, int from, int tag, Duration timeout) {
        if (Objects.requireNonNull(message, "message").isReadOnly()) {
            throw new IllegalArgumentException(
                    "cannot receive into a read-only buffer of " + message.remaining() + " bytes");
        }
        submit(Message.recv(tensor(message), from, tag), CallOptions.of(timeout))
                .await();
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
}

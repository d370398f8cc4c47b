package ferro.backend.gloofallback;

import ferro.CollectiveBackend;
import ferro.DeviceTensor;
import ferro.FerroTransferException;
import ferro.HostTensor;
import ferro.Message;
import ferro.Work;
import ferro.dispatch.DeviceMemory;
import ferro.dispatch.DeviceMemory.Copy;
import ferro.dispatch.DeviceMemory.Staging;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * One message from or to a device. It is one message for the peer too, whose end may be in host memory, so it is not cut.
 *
 * <p>A send copies out before it returns, and the caller may access the tensor from then on. A receive copies in when the
 * message has come, on the thread that completes the host's work.
 */
final class MessageTransfer {
    /** Longest message: a message has one piece of staging, and longer data must be sent in parts. */
    static final long BYTES_MOST = 64L << 20;

    private final Message message;
    private final DeviceTensor tensor;
    private final CollectiveBackend host;
    private final RoundTrips.RoundTripUse use;
    private final RoundTripWork clock;
    private Staging staging;

    MessageTransfer(Message message, CollectiveBackend host, RoundTrips.RoundTripUse use, RoundTripWork clock) {
        this.message = message;
        this.tensor = (DeviceTensor) message.tensor();
        this.host = host;
        this.use = use;
        this.clock = clock;
    }

    Work start() {
        boolean handedOver = false;
        try {
            staging = use.trips().pool().take((int) tensor.byteCount());
            staging.buffer().clear().limit((int) tensor.byteCount());
            Work work = message.kind().isSend() ? send() : receive();
            handedOver = true;
            return work;
        } finally {
            if (!handedOver) {
                use.close();
            }
        }
    }

    private Work send() {
        Copy out = null;
        HostTensor elements = onHost();
        Work network;
        try {
            if (tensor.elementCount() > 0) {
                out = memory().toHost(tensor, staging.buffer());
                await(out, "GPU->CPU copy");
            }
            network = host.submit(message.on(elements), clock.rest());
        } catch (RuntimeException | Error failure) {
            giveBack(out);
            throw failure;
        }
        CompletableFuture<Void> ended = new CompletableFuture<>();
        network.completion().whenComplete((nothing, failure) -> {
            giveBack(null);
            end(ended, RoundTripWork.plain(failure));
        });
        return new MessageWork(network, ended);
    }

    private Work receive() {
        Work network;
        try {
            network = host.submit(message.on(onHost()), clock.rest());
        } catch (RuntimeException | Error failure) {
            giveBack(null);
            throw failure;
        }
        CompletableFuture<Void> ended = new CompletableFuture<>();
        network.completion().whenComplete((nothing, failure) -> {
            Throwable outcome = failure == null ? copyIn() : RoundTripWork.plain(failure);
            end(ended, outcome);
        });
        return new MessageWork(network, ended);
    }

    /** Copies the message to the device; returns the failure that the caller gets, or null. */
    private Throwable copyIn() {
        Copy in = null;
        try {
            if (tensor.elementCount() > 0) {
                in = memory().toDevice(staging.buffer(), tensor);
                await(in, "CPU->GPU copy");
            }
            return null;
        } catch (RuntimeException failure) {
            return clock.isStopping()
                    ? failure
                    : new FerroTransferException(
                            clock.text("CPU->GPU transfer failed on device "
                                    + tensor.device() + ": " + failure.getMessage()
                                    + ": the message was received but is lost, send it again"),
                            failure);
        } catch (Error failure) {
            return failure;
        } finally {
            giveBack(in);
        }
    }

    private void end(CompletableFuture<Void> ended, Throwable failure) {
        use.close();
        if (failure == null) {
            ended.complete(null);
        } else {
            ended.completeExceptionally(failure);
        }
    }

    private void giveBack(Copy last) {
        if (last == null) {
            use.trips().pool().give(staging);
        } else {
            use.trips().pool().give(staging, List.of(last));
        }
    }

    private void await(Copy copy, String what) {
        clock.await(copy, "a " + what + " on device " + tensor.device());
    }

    private DeviceMemory memory() {
        return use.trips().memory();
    }

    private HostTensor onHost() {
        return HostTensor.of(tensor.dataType(), staging.buffer());
    }
}

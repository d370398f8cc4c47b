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

/**
 * One message from or to a device. The message is not cut, because the peer's tensor may be in host memory, and then
 * the peer sends or receives one message.
 *
 * <p>A send copies the data to the host before the send returns, and the caller may access the tensor afterwards. A
 * receive copies the data to the device when the message has arrived, on the thread that completes the host's work.
 */
final class MessageTransfer {
    /** Longest message in bytes. A message has one staging buffer, so longer data must be sent in parts. */
    static final long BYTES_MOST = 64L << 20;

    private final Message message;
    private final DeviceTensor tensor;
    private final CollectiveBackend host;
    private final RoundTripState.RoundTripLease lease;
    private final RoundTripWork clock;
    private Staging staging;

    MessageTransfer(Message message, CollectiveBackend host, RoundTripState.RoundTripLease lease, RoundTripWork clock) {
        this.message = message;
        this.tensor = (DeviceTensor) message.tensor();
        this.host = host;
        this.lease = lease;
        this.clock = clock;
    }

    Work start() {
        boolean handedOver = false;
        try {
            staging = lease.trips().pool().take((int) tensor.byteCount());
            staging.buffer().clear().limit((int) tensor.byteCount());
            begin();
            handedOver = true;
            return clock;
        } finally {
            if (!handedOver) {
                lease.close();
            }
        }
    }

    private void begin() {
        boolean sends = message.kind().isSend();
        HostTensor elements = HostTensor.of(tensor.dataType(), staging.buffer());
        Copy out = null;
        Work network;
        try {
            if (sends && tensor.elementCount() > 0) {
                out = memory().toHost(tensor, staging.buffer());
                await(out, "GPU->CPU copy");
            }
            network = host.submit(message.on(elements), clock.rest());
        } catch (RuntimeException | Error failure) {
            giveBack(out);
            throw failure;
        }
        clock.waitsFor(network);
        network.completion().whenComplete((nothing, failure) -> {
            Throwable outcome = RoundTripWork.plain(failure);
            if (failure == null && !sends) {
                outcome = copyIn();
            } else {
                giveBack(null);
            }
            lease.close();
            clock.end(outcome);
        });
    }

    /** Copies a received message to the device. Returns the failure for the caller, or null. */
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

    private void giveBack(Copy last) {
        lease.trips().pool().give(staging, last == null ? List.of() : List.of(last));
    }

    private void await(Copy copy, String what) {
        clock.await(copy, "a " + what + " on device " + tensor.device());
    }

    private DeviceMemory memory() {
        return lease.trips().memory();
    }
}

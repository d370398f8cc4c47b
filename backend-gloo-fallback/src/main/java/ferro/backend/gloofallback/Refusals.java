package ferro.backend.gloofallback;

import ferro.Collective;
import ferro.DeviceTensor;
import ferro.Message;
import java.util.Optional;

/** Reasons why a call on device tensors cannot go through host memory; known before any data moves. */
final class Refusals {
    private Refusals() {}

    /** Returns why a call cannot go through host memory, whatever the host back end can do. */
    static Optional<String> of(Collective call) {
        if (call.op() != null && call.op().combiner() != null) {
            return Optional.of("a user-defined reduction (" + call.op().name()
                    + ") does not run on device tensors: copy the tensors to the host");
        }
        if (call.hasCounts()) {
            return Optional.of(call.kind() + " with counts does not go through host memory: leave out the counts if"
                    + " all parts are equal, else use host tensors");
        }
        return Optional.empty();
    }

    static Optional<String> of(Message message) {
        DeviceTensor tensor = (DeviceTensor) message.tensor();
        return tensor.byteCount() <= MessageTransfer.BYTES_MOST
                ? Optional.empty()
                : Optional.of(tensor + " has " + tensor.byteCount() + " bytes, host memory takes at most "
                        + MessageTransfer.BYTES_MOST + " in one message: send and receive slices of the tensor");
    }
}

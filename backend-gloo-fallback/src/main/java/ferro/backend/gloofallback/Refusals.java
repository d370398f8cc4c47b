package ferro.backend.gloofallback;

import ferro.Collective;
import ferro.CollectiveBackend;
import ferro.DataType;
import ferro.HostTensor;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Optional;

/** Why a call on device tensors cannot go through host memory; known before anything moves. */
final class Refusals {
    private Refusals() {}

    static Optional<String> of(Collective call, CollectiveBackend host) {
        if (call.op() != null && call.op().combiner() != null) {
            return Optional.of("a reduction of the caller's own does not run on device tensors: copy them to the host");
        }
        if (call.hasCounts()) {
            return Optional.of(
                    call.kind() + " with part lengths of its own does not go through host memory: use equal parts");
        }
        return host.unsupportedBecause(onHost(call));
    }

    /** The call on host tensors without elements: what a back end can do does not depend on the length. */
    private static Collective onHost(Collective call) {
        DataType type = call.operand().dataType();
        HostTensor none = HostTensor.of(type, ByteBuffer.allocateDirect(0).order(ByteOrder.nativeOrder()));
        return call.on(call.in() == null ? null : none, call.out() == null ? null : none);
    }
}

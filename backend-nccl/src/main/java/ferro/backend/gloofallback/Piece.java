package ferro.backend.gloofallback;

import ferro.HostTensor;
import ferro.Work;
import ferro.dispatch.DeviceMemory.Copy;
import ferro.dispatch.DeviceMemory.Staging;
import java.util.ArrayList;
import java.util.List;

/** A place for one piece under way: its staging memory, and the copies and the host call that use it now. */
final class Piece {
    final Staging staging;
    /** Copies, out or in, that may still run. */
    final List<Copy> copies = new ArrayList<>();
    /** The host's part, until it was waited for. */
    Work network;

    Piece(Staging staging) {
        this.staging = staging;
    }

    /** Returns the first elements of the staging memory. */
    HostTensor view(RoundTripRoute route, int elements) {
        staging.buffer().clear().limit(elements * route.type().byteSize());
        return HostTensor.of(route.type(), staging.buffer());
    }
}

package ferro.backend.gloofallback;

import ferro.HostTensor;
import ferro.Work;
import ferro.dispatch.DeviceMemory.Copy;
import ferro.dispatch.DeviceMemory.Staging;
import java.util.ArrayList;
import java.util.List;

/** A place for one piece under way: its staging memory, and what uses that now. */
final class Piece {
    final Staging staging;
    /** Copies that may still run, out or in. */
    final List<Copy> copies = new ArrayList<>();
    /** The host's part, until it has been waited for. */
    Work network;

    Piece(Staging staging) {
        this.staging = staging;
    }

    /** Returns the first elements of the staging memory. */
    HostTensor view(Route route, int elements) {
        staging.buffer().clear().limit(elements * route.type().byteSize());
        return HostTensor.of(route.type(), staging.buffer());
    }
}

package ferro.djl;

import ferro.HostTensor;
import ferro.group.ProcessGroup;
import java.nio.ByteBuffer;

/** Compares what ranks begin with. */
final class Replication {
    private Replication() {}

    /** Compares the values of parameters; collective. */
    static void check(ProcessGroup group, TrainedParameters parameters) {
        long[] own = new long[parameters.size()];
        for (int index = 0; index < own.length; index++) {
            HostTensor values = TrainedParameters.room(
                    parameters.nameOf(index), parameters.get(index).getArray());
            NDArrayMemory.read(parameters.get(index).getArray(), values);
            own[index] = hash(values.buffer());
        }
        long[] all = new long[own.length * group.worldSize()];
        group.allGather(own, all);
        for (int at = own.length; at < all.length; at++) {
            if (all[at] != all[at % own.length]) {
                throw new IllegalStateException("parameter \"" + parameters.nameOf(at % own.length)
                        + "\" has other values on rank " + at / own.length + " than on rank 0 before the first step:"
                        + " call broadcastParameters() on all ranks when the trainer has initialized the model");
            }
        }
    }

    private static long hash(ByteBuffer bytes) {
        long hash = bytes.remaining();
        while (bytes.remaining() >= Integer.BYTES) {
            hash = 31 * hash + bytes.getInt();
        }
        return hash;
    }
}

package ferro.backend.nccl;

import ferro.DataType;
import ferro.DeviceTensor;
import ferro.ReduceOp;
import java.util.Optional;

/** What a library can take, checked before any native call. */
final class NcclElements {
    private final NcclVersion version;

    NcclElements(NcclVersion version) {
        this.version = version;
    }

    /**
     * Returns NCCL's code of a type.
     *
     * @throws UnsupportedOperationException if NCCL, or this release, has none
     */
    int code(DataType type) {
        NcclDataType found = NcclDataType.of(type);
        refuse(found.unsupportedBecause(version));
        return found.code();
    }

    /**
     * Returns NCCL's code of a reduction.
     *
     * @throws UnsupportedOperationException if NCCL, or this release, has none
     */
    int code(ReduceOp op) {
        NcclRedOp found = NcclRedOp.of(op);
        refuse(found.unsupportedBecause(version));
        return found.code();
    }

    private static void refuse(Optional<String> why) {
        if (why.isPresent()) {
            throw new UnsupportedOperationException(why.get());
        }
    }

    /** Checks where a tensor is: nothing is moved between devices. */
    static void onDevice(String operation, int index, DeviceTensor tensor, int device) {
        if (tensor.device() != device) {
            throw new IllegalArgumentException(operation + ": tensor " + index + " is on device " + tensor.device()
                    + ", expected device " + device + ": nothing is moved between devices");
        }
    }
}

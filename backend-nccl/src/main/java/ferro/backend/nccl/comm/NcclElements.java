package ferro.backend.nccl.comm;

import ferro.DataType;
import ferro.DeviceTensor;
import ferro.ReduceOp;
import ferro.backend.nccl.NcclDataType;
import ferro.backend.nccl.NcclRedOp;
import ferro.backend.nccl.NcclVersion;
import java.util.Optional;

/** Element types and reductions that a library supports, checked before any native call. */
final class NcclElements {
    private final NcclVersion version;

    NcclElements(NcclVersion version) {
        this.version = version;
    }

    /**
     * Returns NCCL's code of a type.
     *
     * @throws UnsupportedOperationException if NCCL, or this release, has no code for it
     */
    int code(DataType type) {
        NcclDataType found = NcclDataType.of(type);
        refuse(found.unsupportedBecause(version));
        return found.code();
    }

    /**
     * Returns NCCL's code of a reduction of elements of a type.
     *
     * @throws UnsupportedOperationException if NCCL, or this release, has no code for it, or none that is correct for
     *     the type
     */
    int code(DataType type, ReduceOp op) {
        NcclRedOp found = NcclRedOp.of(op);
        refuse(found.unsupportedBecause(version));
        if (op == ReduceOp.AVG && !type.isFloating()) {
            // NCCL sums in the type itself, so that the average of 100 and 100 in i8 would be -28
            throw new UnsupportedOperationException("the average of " + type.label()
                    + " would wrap in NCCL, which adds in this type: use sum, or convert to one of f16 bf16 f32 f64,"
                    + " or average in host memory, over tcp (-Dferro.backend=cpu:tcp,cuda:nccl)");
        }
        return found.code();
    }

    private static void refuse(Optional<String> why) {
        if (why.isPresent()) {
            throw new UnsupportedOperationException(why.get());
        }
    }

    /** Checks the device of a tensor: tensors are not moved between devices. */
    static void onDevice(String operation, int index, DeviceTensor tensor, int device) {
        if (tensor.device() != device) {
            throw new IllegalArgumentException(operation + ": tensor " + index + " is on device " + tensor.device()
                    + ", expected device " + device + ": nothing is moved between devices");
        }
    }
}

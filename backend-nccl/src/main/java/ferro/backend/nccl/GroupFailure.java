package ferro.backend.nccl;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * Why a group has ended; there is one per rank, the first, and every call tells it.
 *
 * @param code     kind
 * @param culprits ranks to blame, comma-separated, empty if unknown
 * @param text     what happened, without the place
 * @param cause    first cause or null
 */
record GroupFailure(Code code, String culprits, String text, Throwable cause) {
    private static final int FIELDS = 3;

    /** Makes the exception of a call that this failure ends or keeps from starting. */
    FerroException exception(Where where, String place) {
        Where blamed = where.blaming(culprits);
        String message = place + ": " + text;
        if (cause instanceof NcclException nccl) {
            return new NcclException(blamed, nccl.result(), nccl.lastError(), message, nccl);
        }
        if (cause instanceof CudaException cuda) {
            return new CudaException(blamed, cuda.cudaCode(), cuda.call(), message, cuda);
        }
        return new FerroException(code, blamed, message, cause);
    }

    /** Makes the exception of a call that comes after the failure; {@code first} is what the failed call threw. */
    FerroException later(Where where, String place, FerroException first) {
        String message = place + ": communicator broken by earlier error: " + text + "; close it and join again";
        return new FerroException(code, where.blaming(culprits), message, first == null ? cause : first);
    }

    /** Writes what the other ranks have to know. */
    byte[] encoded() {
        return (code + "\n" + culprits + "\n" + text).getBytes(StandardCharsets.UTF_8);
    }

    /** Reads what another rank wrote; empty if it is something else. */
    static Optional<GroupFailure> decoded(byte[] bytes) {
        String[] fields = new String(bytes, StandardCharsets.UTF_8).split("\n", FIELDS);
        if (fields.length < FIELDS) {
            return Optional.empty();
        }
        for (Code code : Code.values()) {
            if (code.name().equals(fields[0])) {
                return Optional.of(new GroupFailure(code, fields[1], fields[2], null));
            }
        }
        return Optional.empty();
    }
}

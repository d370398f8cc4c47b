package ferro.backend.nccl.ffi;

import com.sun.jna.Native;
import java.util.Optional;

/** Checks whether JNA works here. It may be absent, may lack native access, or may be unable to unpack its library. */
final class JnaStart {
    private JnaStart() {}

    static Optional<String> check() {
        try {
            return Native.POINTER_SIZE == Long.BYTES
                    ? Optional.empty()
                    : Optional.of("need a JVM of 64 bits, found pointers of " + Native.POINTER_SIZE + " bytes");
        } catch (LinkageError refused) {
            return Optional.of(firstCause(refused) + "; put jna.jar on the class path, allow native access"
                    + " (--enable-native-access=ALL-UNNAMED, on the module path com.sun.jna), and set -Djna.tmpdir=... to a"
                    + " folder whose files may be executed");
        }
    }

    /** Returns the first cause: it is hidden behind the failures of every later use of its classes. */
    static String firstCause(LinkageError refused) {
        Throwable first = refused;
        while (first.getCause() != null) {
            first = first.getCause();
        }
        return first.toString();
    }
}

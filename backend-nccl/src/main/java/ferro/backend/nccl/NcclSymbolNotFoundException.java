package ferro.backend.nccl;

import ferro.FerroException;
import java.util.List;

/**
 * Thrown if a loaded library lacks functions that ferro needs. The library is too old, or is another library with the
 * same file name.
 */
public final class NcclSymbolNotFoundException extends FerroException {
    private static final long serialVersionUID = 1L;

    /** Serialized with the exception: List.copyOf returns a serializable list. */
    @SuppressWarnings("serial")
    private final List<String> symbols;

    /**
     * Creates a failure.
     *
     * @param library path
     * @param symbols all missing functions
     */
    public NcclSymbolNotFoundException(String library, List<String> symbols) {
        super(
                Code.NATIVE,
                Where.of("", -1),
                "Symbol not found: " + library + " lacks " + String.join(", ", symbols)
                        + "; need NCCL >= 2.5 (or RCCL) and the runtime of CUDA >= 11 (or HIP); name their files with"
                        + " -Dferro.nccl.library and -Dferro.cudart.library");
        this.symbols = List.copyOf(symbols);
    }

    /** {@return the missing C functions} */
    public List<String> symbols() {
        return symbols;
    }
}

package ferro.backend.nccl;

import ferro.FerroException;
import java.util.List;

/** A library was loaded that lacks functions which ferro needs: it is too old, or another library of that name. */
public final class NcclSymbolNotFoundException extends FerroException {
    private static final long serialVersionUID = 1L;

    /** Serialised with the exception: a list of strings, made by List.copyOf. */
    @SuppressWarnings("serial")
    private final List<String> symbols;

    /**
     * Makes a failure.
     *
     * @param library path
     * @param symbols all functions that are missing
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

    /** {@return the C functions that are missing} */
    public List<String> symbols() {
        return symbols;
    }
}

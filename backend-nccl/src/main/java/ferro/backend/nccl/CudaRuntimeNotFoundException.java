package ferro.backend.nccl;

import ferro.FerroException;
import java.util.List;

/** The failure to load any libcudart or libamdhip64, or the one that a setting names. */
public final class CudaRuntimeNotFoundException extends FerroException {
    private static final long serialVersionUID = 1L;

    /** Serialized with the exception: a list of records of strings, made by List.copyOf. */
    @SuppressWarnings("serial")
    private final List<LibraryLoadFailure> tried;

    /**
     * Creates a failure.
     *
     * @param tried every candidate with the loader's message, in order
     */
    public CudaRuntimeNotFoundException(List<LibraryLoadFailure> tried) {
        super(
                Code.NATIVE,
                Where.of("", -1),
                "CUDA runtime library libcudart.so not found: " + LibraryLoadFailure.list(tried)
                        + "; install the CUDA runtime (or HIP), or name its file with -Dferro.cudart.library or"
                        + " FERRO_CUDART_LIBRARY");
        this.tried = List.copyOf(tried);
    }

    /** {@return the candidates that were tried, in order} */
    public List<LibraryLoadFailure> tried() {
        return tried;
    }
}

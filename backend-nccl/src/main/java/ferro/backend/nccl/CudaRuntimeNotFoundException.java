package ferro.backend.nccl;

import ferro.FerroException;
import java.util.List;

/** Thrown if no libcudart or libamdhip64 can be loaded, or if the runtime that a setting names cannot be loaded. */
public final class CudaRuntimeNotFoundException extends FerroException {
    private static final long serialVersionUID = 1L;

    /** Serialized with the exception: List.copyOf returns a serializable list. */
    @SuppressWarnings("serial")
    private final List<LibraryLoadFailure> tried;

    /**
     * Creates a failure.
     *
     * @param tried libraries that were tried, in order, with the loader's messages
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

    /** {@return the libraries that were tried, in order} */
    public List<LibraryLoadFailure> tried() {
        return tried;
    }
}

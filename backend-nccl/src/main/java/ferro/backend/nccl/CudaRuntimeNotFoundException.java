package ferro.backend.nccl;

import ferro.FerroException;
import java.util.List;

/** No libcudart or libamdhip64 could be loaded, or the named one could not. */
public final class CudaRuntimeNotFoundException extends FerroException {
    private static final long serialVersionUID = 1L;

    /** Serialised with the exception: a list of records of strings, made by List.copyOf. */
    @SuppressWarnings("serial")
    private final List<Tried> tried;

    /**
     * Makes a failure.
     *
     * @param tried every candidate with the loader's message, in order
     */
    public CudaRuntimeNotFoundException(List<Tried> tried) {
        super(
                Code.NATIVE,
                Where.of("", -1),
                "CUDA runtime library libcudart.so not found: " + Tried.list(tried)
                        + "; install the CUDA runtime (or HIP), or name its file with -Dferro.cudart.library or"
                        + " FERRO_CUDART_LIBRARY");
        this.tried = List.copyOf(tried);
    }

    /** {@return the candidates that were tried, in order} */
    public List<Tried> tried() {
        return tried;
    }
}

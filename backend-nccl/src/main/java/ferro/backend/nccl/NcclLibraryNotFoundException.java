package ferro.backend.nccl;

import ferro.FerroException;
import java.util.List;

/** Thrown if no libnccl or librccl can be loaded, or if the library that a setting names cannot be loaded. */
public final class NcclLibraryNotFoundException extends FerroException {
    private static final long serialVersionUID = 1L;

    /** Serialized with the exception: a list of records of strings, made by List.copyOf. */
    @SuppressWarnings("serial")
    private final List<LibraryLoadFailure> tried;

    /**
     * Creates a failure.
     *
     * @param tried every candidate with the loader's message, in order
     */
    public NcclLibraryNotFoundException(List<LibraryLoadFailure> tried) {
        super(
                Code.NATIVE,
                Where.of("", -1),
                "NCCL library libnccl.so.2 not found: " + LibraryLoadFailure.list(tried)
                        + "; install NCCL (or RCCL), or name its file with -Dferro.nccl.library or FERRO_NCCL_LIBRARY");
        this.tried = List.copyOf(tried);
    }

    /** {@return the candidates that were tried, in order} */
    public List<LibraryLoadFailure> tried() {
        return tried;
    }
}

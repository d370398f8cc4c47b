package ferro.backend.nccl;

import ferro.FerroException;
import java.util.List;

/** Thrown if no libnccl or librccl can be loaded, or if the library that a setting names cannot be loaded. */
public final class NcclLibraryNotFoundException extends FerroException {
    private static final long serialVersionUID = 1L;

    /** Serialized with the exception: List.copyOf returns a serializable list. */
    @SuppressWarnings("serial")
    private final List<LibraryLoadFailure> tried;

    /**
     * Creates a failure.
     *
     * @param tried libraries that were tried, in order, with the loader's messages
     */
    public NcclLibraryNotFoundException(List<LibraryLoadFailure> tried) {
        super(
                Code.NATIVE,
                Where.of("", -1),
                "NCCL library libnccl.so.2 not found: " + LibraryLoadFailure.list(tried)
                        + "; install NCCL (or RCCL), or name its file with -Dferro.nccl.library or FERRO_NCCL_LIBRARY");
        this.tried = List.copyOf(tried);
    }

    /** {@return the libraries that were tried, in order} */
    public List<LibraryLoadFailure> tried() {
        return tried;
    }
}

package ferro.backend.nccl;

import ferro.FerroException;
import java.util.List;

/** No libnccl or librccl could be loaded, or not the one that was named. */
public final class NcclLibraryNotFoundException extends FerroException {
    private static final long serialVersionUID = 1L;

    /** Serialised with the exception: a list of records of strings, made by List.copyOf. */
    @SuppressWarnings("serial")
    private final List<Tried> tried;

    /**
     * Makes a failure.
     *
     * @param tried every candidate with what the loader said, in order
     */
    public NcclLibraryNotFoundException(List<Tried> tried) {
        super(
                Code.NATIVE,
                Where.outside("", -1),
                "NCCL library libnccl.so.2 not found: " + Tried.list(tried)
                        + "; install NCCL (or RCCL), or name its file by -Dferro.nccl.library or FERRO_NCCL_LIBRARY");
        this.tried = List.copyOf(tried);
    }

    /**
     * Returns what was tried.
     *
     * @return candidates in order
     */
    public List<Tried> tried() {
        return tried;
    }
}

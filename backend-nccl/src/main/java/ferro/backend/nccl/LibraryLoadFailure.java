package ferro.backend.nccl;

import java.util.List;
import java.util.stream.Collectors;

/**
 * A library that could not be loaded, and the reason.
 *
 * @param candidate name or path
 * @param message   message of the loader
 */
public record LibraryLoadFailure(String candidate, String message) implements java.io.Serializable {
    private static final long serialVersionUID = 1L;

    /** Returns one line with all libraries that were tried. */
    static String list(List<LibraryLoadFailure> tried) {
        return tried.stream()
                .map(one -> one.candidate + " (" + one.message + ")")
                .collect(Collectors.joining("; ", "tried ", ""));
    }
}

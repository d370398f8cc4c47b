package ferro.spi;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * The errors of services that cannot be loaded. A search skips services that cannot be loaded. If a search finds no
 * service, the exception of the search has the errors of skipped services as its cause. Not thread-safe.
 */
public final class ServiceErrors {
    private final List<Throwable> errors = new ArrayList<>();

    /** Creates an empty list of errors. */
    public ServiceErrors() {}

    /**
     * Adds the error of one service.
     *
     * @param error error of loading or querying the service
     */
    public void add(Throwable error) {
        Objects.requireNonNull(error, "error");
        if (!errors.isEmpty() && errors.get(0) != error) {
            errors.get(0).addSuppressed(error);
        }
        errors.add(error);
    }

    /**
     * Returns a text for the last cause of an error of loading or querying a service.
     *
     * @param error error of loading or querying a service
     * @return class and message of the last cause
     */
    public static String root(Throwable error) {
        Throwable last = Objects.requireNonNull(error, "error");
        while (last.getCause() != null) {
            last = last.getCause();
        }
        return last.toString();
    }

    /**
     * {@return a text for each error, such as {@code (broken: java.lang.NoClassDefFoundError: a/B)}, for a list of the
     * services that were found}
     */
    public List<String> texts() {
        return errors.stream().map(error -> "(broken: " + root(error) + ")").toList();
    }

    /**
     * {@return the cause for an exception of the search, which is the first error with all later errors as suppressed
     * exceptions; null without an error}
     */
    public Throwable cause() {
        return errors.isEmpty() ? null : errors.get(0);
    }
}

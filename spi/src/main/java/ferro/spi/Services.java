package ferro.spi;

import java.util.Iterator;
import java.util.Objects;
import java.util.Optional;
import java.util.ServiceConfigurationError;
import java.util.function.Consumer;
import java.util.function.Function;

/** Goes through the services of the path, as {@link java.util.ServiceLoader} finds them: a broken one hides no other. */
public final class Services {
    private Services() {}

    /**
     * Asks one after the other until one answers.
     *
     * @param <S>      type of the services
     * @param <T>      type of the answer
     * @param services whom to ask
     * @param answer   what one says; empty to ask the next
     * @param broken   told why one cannot be loaded or asked
     * @return first answer, empty if there is none
     */
    public static <S, T> Optional<T> first(
            Iterable<S> services, Function<S, Optional<T>> answer, Consumer<Error> broken) {
        Objects.requireNonNull(services, "services");
        Objects.requireNonNull(answer, "answer");
        Objects.requireNonNull(broken, "broken");
        Iterator<S> rest = services.iterator();
        while (true) {
            try {
                if (!rest.hasNext()) {
                    return Optional.empty();
                }
                Optional<T> answered = answer.apply(rest.next());
                if (answered.isPresent()) {
                    return answered;
                }
            } catch (ServiceConfigurationError | LinkageError failure) {
                broken.accept(failure);
            }
        }
    }

    /**
     * Shows all of them.
     *
     * @param <S>      type of the services
     * @param services which
     * @param look     told each
     * @param broken   told why one cannot be loaded or looked at
     */
    public static <S> void each(Iterable<S> services, Consumer<S> look, Consumer<Error> broken) {
        Objects.requireNonNull(look, "look");
        first(
                services,
                service -> {
                    look.accept(service);
                    return Optional.empty();
                },
                broken);
    }
}

package ferro.spi;

import java.util.Iterator;
import java.util.Objects;
import java.util.Optional;
import java.util.ServiceConfigurationError;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Iterates over the services of the class path or module path, as {@link java.util.ServiceLoader} finds them. A broken
 * service does not hide the others.
 */
public final class Services {
    private Services() {}

    /**
     * Asks the services one after the other until one answers.
     *
     * @param <S>      type of the services
     * @param <T>      type of the answer
     * @param services services to ask
     * @param answer   answer of one service; empty to ask the next
     * @param broken   receives the error of a service that cannot be loaded or asked
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
     * Passes every service to a consumer.
     *
     * @param <S>      type of the services
     * @param services services to pass
     * @param look     receives each service
     * @param broken   receives the error of a service that cannot be loaded or used
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

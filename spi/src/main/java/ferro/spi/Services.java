package ferro.spi;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.Optional;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Iterates over the services of the class path or module path, as {@link java.util.ServiceLoader} finds them. A broken
 * service does not hide the others.
 */
public final class Services {
    private Services() {}

    /**
     * Finds the services that the class loader of ferro sees, then ferro's own whose file in META-INF/services was lost, as in
     * a jar made of several, then those that only the context class loader of the calling thread sees. A call from a thread of
     * a pool, whose context loader may be the system's, so finds what is on ferro's own path. This is the only look-up of
     * services in ferro.
     *
     * @param <S>  type of the services
     * @param type a service type of this module
     * @return providers, each class once; iterating throws {@link ServiceConfigurationError} for a broken one and can go on
     */
    public static <S> Iterable<ServiceLoader.Provider<S>> providers(Class<S> type) {
        Objects.requireNonNull(type, "type");
        ClassLoader own = Services.class.getClassLoader();
        ClassLoader near = Thread.currentThread().getContextClassLoader();
        List<Supplier<Iterator<ServiceLoader.Provider<S>>>> places = new ArrayList<>();
        ServiceLoader<S> first = ServiceLoader.load(type, own);
        places.add(() -> first.stream().iterator());
        places.add(() -> OwnProviders.of(type, own).iterator());
        if (near != own && sees(near, type)) {
            ServiceLoader<S> last = ServiceLoader.load(type, near);
            places.add(() -> last.stream().iterator());
        }
        return () -> new Providers<>(places.iterator());
    }

    /**
     * Finds the services as {@link #providers} does, and makes one of each.
     *
     * @param <S>  type of the services
     * @param type a service type of this module
     * @return services; iterating throws {@link ServiceConfigurationError} for a broken one and can go on
     */
    public static <S> Iterable<S> of(Class<S> type) {
        Iterable<ServiceLoader.Provider<S>> found = providers(type);
        return () -> {
            Iterator<ServiceLoader.Provider<S>> each = found.iterator();
            return new Iterator<>() {
                @Override
                public boolean hasNext() {
                    return each.hasNext();
                }

                @Override
                public S next() {
                    return each.next().get();
                }
            };
        };
    }

    /**
     * Finds the first service as {@link #providers} does.
     *
     * @param <S>  type of the service
     * @param type a service type of this module
     * @return service, empty if there is none
     * @throws ServiceConfigurationError if the first one is broken
     */
    public static <S> Optional<S> first(Class<S> type) {
        Iterator<S> found = of(type).iterator();
        return found.hasNext() ? Optional.of(found.next()) : Optional.empty();
    }

    /** Returns whether a loader sees this very type: another copy of ferro in it has services of its own. */
    private static boolean sees(ClassLoader loader, Class<?> type) {
        try {
            return loader != null && Class.forName(type.getName(), false, loader) == type;
        } catch (ClassNotFoundException | LinkageError absent) {
            return false;
        }
    }

    /** The providers of several places, each class once. */
    private static final class Providers<S> implements Iterator<ServiceLoader.Provider<S>> {
        private final Iterator<Supplier<Iterator<ServiceLoader.Provider<S>>>> places;
        private final Set<Class<?>> seen = new HashSet<>();
        private Iterator<ServiceLoader.Provider<S>> current = Collections.emptyIterator();
        private ServiceLoader.Provider<S> next;

        Providers(Iterator<Supplier<Iterator<ServiceLoader.Provider<S>>>> places) {
            this.places = places;
        }

        @Override
        public boolean hasNext() {
            while (next == null) {
                if (current.hasNext()) {
                    ServiceLoader.Provider<S> found = current.next();
                    next = seen.add(found.type()) ? found : null;
                } else if (places.hasNext()) {
                    current = places.next().get();
                } else {
                    return false;
                }
            }
            return true;
        }

        @Override
        public ServiceLoader.Provider<S> next() {
            if (!hasNext()) {
                throw new NoSuchElementException("no more providers than " + seen);
            }
            ServiceLoader.Provider<S> found = next;
            next = null;
            return found;
        }
    }

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

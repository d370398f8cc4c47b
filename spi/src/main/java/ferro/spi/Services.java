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

/**
 * Look-up of services on the class path or module path with {@link java.util.ServiceLoader}. A service that cannot be
 * loaded does not prevent the use of other services.
 */
public final class Services {
    private Services() {}

    /**
     * Finds services in three steps. The first step uses the class loader of ferro. The second step finds ferro's own
     * services whose file in META-INF/services was lost, as in a jar that was merged from several jars. The third step
     * uses the context class loader of the calling thread. Because of the order of these steps, a thread of a pool
     * finds the services on ferro's path, even if the thread has the system class loader as its context class loader.
     * All modules of ferro find services through this class.
     *
     * @param <S>  type of the services
     * @param type service type of this module
     * @return providers, each class once. The iterator throws {@link ServiceConfigurationError} for a provider that
     *     cannot be loaded, and can be used further after the error
     */
    public static <S> Iterable<ServiceLoader.Provider<S>> providers(Class<S> type) {
        Objects.requireNonNull(type, "type");
        ClassLoader own = Services.class.getClassLoader();
        ClassLoader near = Thread.currentThread().getContextClassLoader();
        List<ProviderSource<S>> sources = new ArrayList<>();
        sources.add(new ProviderSource<>(type, own, ServiceLoader.load(type, own)));
        sources.add(new ProviderSource<>(type, own, null));
        if (near != own && sees(near, type)) {
            sources.add(new ProviderSource<>(type, near, ServiceLoader.load(type, near)));
        }
        return new Iterable<>() {
            @Override
            public Iterator<ServiceLoader.Provider<S>> iterator() {
                return new ProviderIterator<>(sources.iterator());
            }
        };
    }

    /** A source of providers: a service loader, or the list of ferro's own providers if {@code services} is null. */
    private record ProviderSource<S>(Class<S> type, ClassLoader loader, ServiceLoader<S> services) {
        Iterator<ServiceLoader.Provider<S>> providers() {
            return services == null
                    ? BuiltInProviders.of(type, loader).iterator()
                    : services.stream().iterator();
        }
    }

    /**
     * Finds the services as {@link #providers} does, and creates one instance of each service.
     *
     * @param <S>  type of the services
     * @param type service type of this module
     * @return services. The iterator throws {@link ServiceConfigurationError} for a service that cannot be loaded, and
     *     can be used further after the error
     */
    public static <S> Iterable<S> of(Class<S> type) {
        Iterable<ServiceLoader.Provider<S>> found = providers(type);
        return new Iterable<>() {
            @Override
            public Iterator<S> iterator() {
                return new InstanceIterator<>(found.iterator());
            }
        };
    }

    /** An iterator that creates an instance of each provider. */
    private record InstanceIterator<S>(Iterator<ServiceLoader.Provider<S>> each) implements Iterator<S> {
        @Override
        public boolean hasNext() {
            return each.hasNext();
        }

        @Override
        public S next() {
            return each.next().get();
        }
    }

    /**
     * Finds the first service as {@link #providers} does.
     *
     * @param <S>  type of the service
     * @param type service type of this module
     * @return service; empty if no service exists
     * @throws ServiceConfigurationError if the first service cannot be loaded
     */
    public static <S> Optional<S> first(Class<S> type) {
        Iterator<S> found = of(type).iterator();
        return found.hasNext() ? Optional.of(found.next()) : Optional.empty();
    }

    /**
     * Returns whether a class loader finds the identical type. A loader that finds another copy of ferro would return
     * the services of that copy.
     */
    private static boolean sees(ClassLoader loader, Class<?> type) {
        try {
            return loader != null && Class.forName(type.getName(), false, loader) == type;
        } catch (ClassNotFoundException | LinkageError absent) {
            return false;
        }
    }

    /** An iterator over the providers of several sources, which returns each class once and throws each error once. */
    private static final class ProviderIterator<S> implements Iterator<ServiceLoader.Provider<S>> {
        /**
         * Number of consecutive errors after which a source is left, since a class loader may throw the same error
         * forever.
         */
        private static final int MAX_ERRORS = 100;

        private final Iterator<ProviderSource<S>> sources;
        private final Set<Class<?>> seen = new HashSet<>();
        private final Set<String> failures = new HashSet<>();
        private Iterator<ServiceLoader.Provider<S>> current = Collections.emptyIterator();
        private ServiceLoader.Provider<S> next;
        private int errors;

        ProviderIterator(Iterator<ProviderSource<S>> sources) {
            this.sources = sources;
        }

        @Override
        public boolean hasNext() {
            while (next == null) {
                try {
                    if (current.hasNext()) {
                        ServiceLoader.Provider<S> found = current.next();
                        next = seen.add(found.type()) ? found : null;
                        errors = 0;
                    } else if (sources.hasNext()) {
                        errors = 0;
                        current = sources.next().providers();
                    } else {
                        return false;
                    }
                } catch (ServiceConfigurationError | LinkageError broken) {
                    errors++;
                    if (errors == MAX_ERRORS) {
                        current = Collections.emptyIterator();
                    }
                    // several sources may find the same broken provider
                    if (failures.add(ServiceErrors.root(broken))) {
                        throw broken;
                    }
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
     * Queries the services one after the other until one service gives an answer.
     *
     * @param <S>      type of the services
     * @param <T>      type of the answer
     * @param services services to query
     * @param answer   returns the answer of one service; empty to query the next service
     * @param broken   receives the error of a service that cannot be loaded or queried
     * @return first answer; empty if no service gives an answer
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
        Function<S, Optional<S>> shown = new Function<>() {
            @Override
            public Optional<S> apply(S service) {
                look.accept(service);
                return Optional.empty();
            }
        };
        first(services, shown, broken);
    }
}

package ferro.spi;

import java.lang.reflect.InvocationTargetException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;

/**
 * The providers of ferro, listed by the names of their classes. If several jars are merged into one, a file in
 * META-INF/services of one jar often replaces the file of another jar. With the list of names, all providers are found
 * even in a merged jar.
 */
final class BuiltInProviders {
    private static final Map<String, List<String>> NAMES = Map.of(
            "ferro.spi.BackendProvider",
            List.of(
                    "ferro.backend.tcp.TcpBackendProvider",
                    "ferro.backend.shm.ShmBackendProvider",
                    "ferro.backend.nccl.comm.NcclBackendProvider",
                    "ferro.backend.gloofallback.RoundTripProvider",
                    "ferro.backend.simulated.SimulatedBackendProvider"),
            "ferro.spi.StoreProvider",
            List.of(
                    "ferro.backend.tcp.EnvStoreProvider",
                    "ferro.backend.tcp.TcpStoreProvider",
                    "ferro.backend.tcp.ServingStoreProvider"),
            "ferro.spi.ControlLaneProvider",
            List.of("ferro.backend.tcp.TcpControlLaneProvider"),
            "ferro.spi.SharedMemoryProvider",
            List.of("ferro.backend.shm.ShmMemoryProvider"),
            "ferro.spi.JobTool",
            List.of("ferro.benchmarks.BenchTool"),
            "ferro.dispatch.DeviceMemoryProvider",
            List.of("ferro.backend.nccl.memory.CudaMemoryProvider"),
            "ferro.dispatch.HostFallback",
            List.of("ferro.backend.gloofallback.HostRoundTrip"));

    private BuiltInProviders() {}

    /**
     * Returns the providers that a class loader finds outside of named modules. A provider in a named module is found
     * through the declaration of the module. A provider whose class cannot be linked throws
     * {@link ServiceConfigurationError} when its {@code type()} is called.
     */
    static <S> List<ServiceLoader.Provider<S>> of(Class<S> type, ClassLoader loader) {
        List<ServiceLoader.Provider<S>> found = new ArrayList<>();
        for (String name : NAMES.getOrDefault(type.getName(), List.of())) {
            try {
                Class<?> provider = Class.forName(name, false, loader);
                if (!provider.getModule().isNamed()) {
                    found.add(new NamedProvider<>(provider.asSubclass(type), null));
                }
            } catch (ClassNotFoundException | ClassCastException absent) {
                // this part of ferro is absent, or belongs to another copy of ferro
            } catch (LinkageError broken) {
                found.add(new NamedProvider<>(null, new ServiceConfigurationError(name + " cannot be loaded", broken)));
            }
        }
        return found;
    }

    /**
     * A provider that is created by its constructor without arguments, as ServiceLoader creates a provider. If {@code
     * broken} is set, the class cannot be linked.
     */
    private record NamedProvider<S>(Class<? extends S> type, ServiceConfigurationError broken)
            implements ServiceLoader.Provider<S> {
        @Override
        public Class<? extends S> type() {
            if (broken != null) {
                throw broken;
            }
            return type;
        }

        @Override
        public S get() {
            try {
                return type.getConstructor().newInstance();
            } catch (InvocationTargetException thrown) {
                throw new ServiceConfigurationError(type.getName() + " cannot be created", thrown.getCause());
            } catch (ReflectiveOperationException unfit) {
                throw new ServiceConfigurationError(type.getName() + " cannot be created", unfit);
            }
        }
    }
}

package ferro.backend.nccl.ffi;

import com.sun.jna.NativeLibrary;
import ferro.DataType;
import ferro.DeviceTensor;
import ferro.backend.nccl.comm.NcclUniqueId;
import ferro.backend.nccl.device.NcclAvailability;
import ferro.backend.nccl.memory.CudaMemoryProvider;
import ferro.dispatch.DeviceMemory;
import ferro.dispatch.GpuCollectives;
import ferro.group.SystemContext;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/** Looks at libraries in a JVM of its own; arguments are settings {@code name=value} and steps, run in order. */
final class LoadingProbe {
    private static final PrintStream OUT = System.out;

    private final Map<String, String> settings = new HashMap<>();

    private LoadingProbe() {}

    public static void main(String[] arguments) {
        LoadingProbe probe = new LoadingProbe();
        for (String argument : arguments) {
            int equals = argument.indexOf('=');
            if (equals > 0) {
                probe.settings.put(argument.substring(0, equals), argument.substring(equals + 1));
            } else {
                probe.step(argument);
            }
        }
    }

    private void step(String name) {
        try {
            switch (name) {
                case "look" -> look();
                case "memory" -> OUT.println("memory: " + NcclAvailability.memoryUnavailableBecause(context()));
                case "load" -> load();
                case "id" ->
                    OUT.println("zero: " + NcclUniqueId.generate(context()).equals(NcclUniqueId.zero()));
                case "copy" -> copy();
                case "global" -> global();
                case "collect" -> collect();
                case "mapped" -> mapped();
                default -> throw new IllegalArgumentException("no step " + name);
            }
        } catch (RuntimeException | IOException | LinkageError e) {
            OUT.println(e.getClass().getSimpleName() + ": " + e.getMessage());
        }
    }

    private SystemContext context() {
        return SystemContext.of(Map.copyOf(settings));
    }

    private void look() {
        NcclAvailability found = NcclAvailability.look(context());
        OUT.println("reason: " + found.unavailableBecause().orElse("none"));
        OUT.println("devices: " + found.devices());
        OUT.println("lacks: " + found.lacks());
        found.tried().forEach(tried -> OUT.println("tried: " + tried.candidate() + " | " + tried.message()));
    }

    private void load() {
        LoadedLibraries libraries = LibraryLoader.load(LibraryLocations.of(context()));
        OUT.println("nccl: " + libraries.nccl());
        OUT.println("runtime: " + libraries.runtime().path());
        OUT.println("prefix: " + libraries.runtime().prefix());
        OUT.println("version: " + libraries.version());
        OUT.println("runtime version: " + libraries.runtime().version());
    }

    /** Up and down again, and a failure, under whatever prefix the runtime has. */
    private void copy() {
        try (DeviceMemory memory = new CudaMemoryProvider().open(context())) {
            DeviceTensor tensor = memory.allocate(DataType.INT8, new long[] {3}, 1);
            ByteBuffer up =
                    ByteBuffer.allocateDirect(3).put(new byte[] {7, -8, 9}).flip();
            ByteBuffer down = ByteBuffer.allocateDirect(3);
            memory.toDevice(up, tensor).await(Duration.ofSeconds(20));
            memory.toHost(tensor, down).await(Duration.ofSeconds(20));
            try (DeviceMemory.Staging staging = memory.stage(16)) {
                OUT.println("pinned: " + staging.pinned());
            }
            OUT.println("copied: " + down.get(0) + " " + down.get(1) + " " + down.get(2));
            GpuCollectives.free(tensor);
        }
        ResultChecker.cuda(Cuda.cudaMalloc(new long[1], 1L << 50), "cudaMalloc");
    }

    private static void global() {
        try {
            NativeLibrary.getProcess().getFunction("ncclGetVersion");
            OUT.println("global: true");
        } catch (UnsatisfiedLinkError hidden) {
            OUT.println("global: false");
        }
    }

    /** Whether NCCL is still in memory after what holds no library any more is gone. */
    private static void mapped() throws IOException {
        for (int i = 0; i < 5; i++) {
            WeakReference<Object> unreachable = new WeakReference<>(new Object());
            for (int look = 0; look < 100 && unreachable.get() != null; look++) {
                System.gc();
            }
        }
        String maps = Files.readString(Path.of("/proc/self/maps"));
        OUT.println("mapped: " + maps.contains("libnccl.so.2"));
    }

    private static void collect() throws IOException {
        mapped();
        int[] version = new int[1];
        ResultChecker.nccl(Nccl.ncclGetVersion(version), "ncclGetVersion");
        OUT.println("still: " + version[0]);
    }
}

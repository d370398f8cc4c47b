package ferro.launcher.doctor;

import ferro.FerroException;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import ferro.spi.SegmentSize;
import ferro.spi.Services;
import ferro.spi.Settings;
import ferro.spi.SharedMemoryProvider;
import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceConfigurationError;

/** What {@code ferro doctor} reports about memory that ranks of this host share. */
final class SharedMemoryFacts {
    private static final long TRIAL_BYTES = 4096;
    private static final long MEBIBYTE = 1 << 20;

    private SharedMemoryFacts() {}

    /** Collects the facts, and makes a small segment as each rank would. Settings that cannot work are a problem. */
    static Map<String, String> of(RankContext context, List<String> problems) {
        Map<String, String> facts = new LinkedHashMap<>();
        try {
            String links = Settings.LINKS.of(context);
            Optional<String> why = unusableBecause(context);
            facts.put("works", why.map(reason -> "no: " + reason).orElse("yes"));
            if (why.isPresent() && links.equals("shm")) {
                problems.add(Settings.LINKS.name() + "=shm cannot work here: " + why.get());
            }
            Path folder = Path.of(Settings.SHM_DIR.of(context));
            facts.put("folder", folder + " (" + Settings.SHM_DIR.name() + ")");
            long each = Settings.SHM_BYTES.of(context);
            facts.put("free there", free(folder, each));
            facts.put("a rank may take", mebibytes(each) + " (" + Settings.SHM_BYTES.name() + ")");
        } catch (IllegalArgumentException misset) {
            problems.add("shared memory cannot work with these settings: " + misset.getMessage());
        }
        return facts;
    }

    private static Optional<String> unusableBecause(RankContext context) {
        try {
            Optional<SharedMemoryProvider> provider = Services.first(SharedMemoryProvider.class);
            if (provider.isEmpty()) {
                return Optional.of("ferro-backend-shm is not on the class path");
            }
            return provider.get().unavailableBecause(context).or(() -> tried(provider.get(), context));
        } catch (ServiceConfigurationError | LinkageError broken) {
            return Optional.of("broken provider: " + broken.getMessage());
        }
    }

    private static Optional<String> tried(SharedMemoryProvider provider, RankContext context) {
        GroupSpec alone = new GroupSpec("doctor", 0, 1, Settings.TIMEOUT.of(context));
        try {
            provider.open(alone, context, SegmentSize.now(TRIAL_BYTES)).close();
            return Optional.empty();
        } catch (FerroException failure) {
            return Optional.of(failure.getMessage());
        }
    }

    private static String free(Path folder, long each) {
        try {
            FileStore store = Files.getFileStore(folder);
            long free = store.getUsableSpace();
            return mebibytes(free) + " of " + mebibytes(store.getTotalSpace()) + ", " + store.type() + ", enough for "
                    + free / Math.max(1, each) + " ranks that each take all they may";
        } catch (IOException unknown) {
            return "unknown: " + unknown;
        }
    }

    private static String mebibytes(long bytes) {
        return bytes / MEBIBYTE + " MiB";
    }
}

package ferro.launcher.doctor;

import ferro.FerroException;
import ferro.collectives.CollectiveEngine;
import ferro.spi.Deadlines;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import ferro.spi.SegmentSize;
import ferro.spi.ServiceErrors;
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

/** The facts of {@code ferro doctor} about memory that ranks of this host share. */
final class SharedMemoryFacts {
    private static final long TRIAL_BYTES = 4096;
    private static final long MEBIBYTE = 1 << 20;
    /** A number of ranks for which no host has enough shared memory. */
    private static final int TOO_MANY = 1 << 11;

    private SharedMemoryFacts() {}

    /**
     * Collects the facts about shared memory, and creates a small segment as each rank would. Settings that cannot work
     * are added to the problems.
     *
     * @param ranks size of the group that must fit into memory, one rank for each core
     */
    static Map<String, String> of(RankContext context, int ranks, List<String> problems, List<String> limits) {
        Map<String, String> facts = new LinkedHashMap<>();
        try {
            String links = Settings.LINKS.of(context);
            Optional<String> why = unusableBecause(context);
            facts.put("works", why.map(reason -> "no: " + reason).orElse("yes"));
            if (why.isPresent() && links.equals("shm")) {
                problems.add(Settings.LINKS.name() + "=shm cannot work here: " + why.get());
            } else if (why.isPresent() && links.equals("auto")) {
                limits.add("ranks here cannot share memory, and would use TCP: " + why.get());
            }
            Path folder = Path.of(Settings.SHM_DIR.of(context));
            facts.put("folder", folder + " (" + Settings.SHM_DIR.name() + ")");
            facts.put("free there", free(folder));
            long each = Settings.SHM_BYTES.of(context);
            facts.put("a rank may take", mebibytes(each) + " (" + Settings.SHM_BYTES.name() + ")");
            if (why.isEmpty()) {
                facts.put("enough for", enoughFor(context, ranks));
                noRoom(context, ranks)
                        .ifPresent(lack -> (links.equals("shm") ? problems : limits)
                                .add(ranks + " ranks here cannot share memory" + overTcp(links) + ": " + lack));
            }
        } catch (IllegalArgumentException misset) {
            problems.add("shared memory cannot work with these settings: " + misset.getMessage());
        }
        return facts;
    }

    private static String overTcp(String links) {
        return links.equals("shm") ? ", but " + Settings.LINKS.name() + "=shm requires it" : ", and would use TCP";
    }

    /** Describes how many ranks fit into memory, and how much memory the ranks of this machine need. */
    private static String enoughFor(RankContext context, int ranks) {
        int enough = 1;
        for (int tooMany = TOO_MANY; tooMany - enough > 1; ) {
            int middle = (enough + tooMany) / 2;
            if (noRoom(context, middle).isEmpty()) {
                enough = middle;
            } else {
                tooMany = middle;
            }
        }
        String most = enough == 1 ? "no group" : "a group of " + enough + " ranks";
        return CollectiveEngine.sharedMemoryOf(ranks)
                .map(size -> most + "; one of " + ranks + " takes " + mebibytes(size.bytes() * ranks + MEBIBYTE - 1))
                .orElse(most);
    }

    /**
     * Returns why a group of this size cannot share memory. This method creates a segment that would allocate its
     * memory later. This segment passes the same checks as the segment of a group, but takes no memory.
     */
    private static Optional<String> noRoom(RankContext context, int ranks) {
        return CollectiveEngine.sharedMemoryOf(ranks)
                .map(size -> tried(size.withLater(0, size.bytes()).withRanks(ranks), context))
                .orElseGet(() -> Optional.of("they are too many"));
    }

    private static Optional<String> tried(SegmentSize size, RankContext context) {
        return Services.first(SharedMemoryProvider.class).flatMap(provider -> tried(provider, context, size));
    }

    private static Optional<String> unusableBecause(RankContext context) {
        try {
            Optional<SharedMemoryProvider> provider = Services.first(SharedMemoryProvider.class);
            if (provider.isEmpty()) {
                return Optional.of("ferro-backend-shm is not on the class path");
            }
            return provider.get()
                    .unavailableBecause(context)
                    .or(() -> tried(provider.get(), context, SegmentSize.now(TRIAL_BYTES)));
        } catch (ServiceConfigurationError | LinkageError broken) {
            return Optional.of("broken provider: " + ServiceErrors.root(broken));
        }
    }

    private static Optional<String> tried(SharedMemoryProvider provider, RankContext context, SegmentSize size) {
        GroupSpec alone = GroupSpec.of("doctor", 0, 1, Deadlines.ofCalls(context));
        try {
            provider.open(alone, context, size).close();
            return Optional.empty();
        } catch (FerroException failure) {
            return Optional.of(failure.getMessage());
        }
    }

    private static String free(Path folder) {
        try {
            FileStore store = Files.getFileStore(folder);
            return mebibytes(store.getUsableSpace()) + " of " + mebibytes(store.getTotalSpace()) + ", " + store.type();
        } catch (IOException unknown) {
            return "unknown: " + unknown;
        }
    }

    private static String mebibytes(long bytes) {
        return bytes / MEBIBYTE + " MiB";
    }
}

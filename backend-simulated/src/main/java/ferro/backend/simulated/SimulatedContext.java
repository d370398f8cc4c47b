package ferro.backend.simulated;

import ferro.Store;
import ferro.group.SystemContext;
import ferro.spi.ForwardingContext;
import ferro.spi.ProcessTable;
import ferro.spi.Setting;
import ferro.spi.Settings;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.LongSupplier;

/**
 * The context of one simulated rank. All ranks share the clock and the timers. Settings come from a map. The context
 * has no {@code Store}.
 */
final class SimulatedContext extends ForwardingContext {
    /** A table without watched processes, because all simulated ranks are in this process on one host. */
    private static final ProcessTable PROCESSES = new ProcessTable() {
        @Override
        public String self() {
            return "";
        }

        @Override
        public String machine() {
            return "simulated";
        }

        @Override
        public Optional<TrackedProcess> watch(String identity) {
            return Optional.empty();
        }
    };

    /** Total number of flight recorder entries of all ranks in a large simulation. */
    private static final int ENTRIES_OF_ALL = 1 << 18;

    private static final int ENTRIES_LEAST = 64;

    private final int rank;
    private final LongSupplier clock;
    private final ScheduledExecutorService background;

    SimulatedContext(int rank, Map<String, String> settings, LongSupplier clock, ScheduledExecutorService background) {
        super(SystemContext.of(settings));
        this.rank = rank;
        this.clock = clock;
        this.background = background;
    }

    /**
     * Returns settings with a small flight recorder if many ranks are in one JVM, because each rank has a recorder.
     * Settings that give the size of the recorder stay unchanged.
     */
    static Map<String, String> withSmallRecorder(Map<String, String> settings, int worldSize) {
        Setting<Integer> entries = Settings.RECORDER_ENTRIES;
        int share = ENTRIES_OF_ALL / worldSize;
        return share >= Integer.parseInt(entries.fallback().orElseThrow())
                ? settings
                : withDefault(settings, entries, Integer.toString(Math.max(ENTRIES_LEAST, share)));
    }

    /** Returns settings in which a missing setting has the value {@code value}. */
    static Map<String, String> withDefault(Map<String, String> settings, Setting<?> setting, String value) {
        if (settings.containsKey(setting.name()) || settings.containsKey(setting.variable())) {
            return settings;
        }
        Map<String, String> all = new HashMap<>(settings);
        all.put(setting.name(), value);
        return all;
    }

    @Override
    public long nanoTime() {
        return clock.getAsLong();
    }

    @Override
    public ScheduledExecutorService background() {
        return background;
    }

    @Override
    public ProcessTable processes() {
        return PROCESSES;
    }

    @Override
    public Store store() {
        throw new IllegalStateException("simulated rank " + rank
                + " has no store, because its ranks are made together: use SimulatedBackend.createGroup(n)");
    }
}

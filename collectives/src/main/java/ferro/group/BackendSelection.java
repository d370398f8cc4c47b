package ferro.group;

import ferro.Backend;
import ferro.CollectiveBackend;
import ferro.collectives.CollectiveEngine;
import ferro.collectives.engine.GroupEngine;
import ferro.dispatch.GpuCollectives;
import ferro.spi.BackendProvider;
import ferro.spi.ControlLane;
import ferro.spi.ForwardingContext;
import ferro.spi.GroupSpec;
import ferro.spi.PlainLoggers;
import ferro.spi.RankContext;
import ferro.spi.ServiceErrors;
import ferro.spi.Services;
import ferro.spi.Settings;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceConfigurationError;
import java.util.StringJoiner;
import java.util.function.Supplier;

/**
 * The choice of back ends. This class finds the back ends on the class path and the module path, and opens the back
 * ends that {@code ferro.backend} selects. The setting is a name, a pair for host and device tensors
 * ({@code cpu:tcp,cuda:nccl}), or {@code auto}. {@code auto} opens the usable back end of highest priority. If every
 * rank has a usable back end for device tensors, {@code auto} also opens that back end ({@link
 * DeviceBackendAgreement}). A named back end that cannot work is an error. No other back end replaces a named back end.
 * Every message lists all providers with their reasons.
 */
final class BackendSelection {
    private static final String AUTO = "auto";
    private static final System.Logger LOG = PlainLoggers.logger("ferro.join");

    private BackendSelection() {}

    static Backend open(GroupSpec group, RankContext context) {
        return open(group, context, candidates(context));
    }

    static Backend open(GroupSpec group, RankContext context, List<BackendCandidate> found) {
        String wanted = Settings.BACKEND.of(context);
        JoiningContext joining = new JoiningContext(group, context);
        if (wanted.indexOf(':') >= 0) {
            BackendPair pair = BackendPair.of(wanted, found);
            return openBoth(named(pair.host, wanted, found), named(pair.device, wanted, found), group, joining);
        }
        if (!wanted.equals(AUTO)) {
            return named(wanted, wanted, found).provider.create(group, joining);
        }
        BackendCandidate best = best(found);
        try {
            Optional<BackendCandidate> device =
                    agreedForDevices(best, found, new DeviceBackendAgreement(group, joining));
            return device.isPresent()
                    ? openBoth(best, device.get(), group, joining)
                    : best.provider.create(group, joining);
        } catch (RuntimeException | Error failure) {
            joining.closeStore();
            throw failure;
        }
    }

    /**
     * Chooses the back end for device tensors that is opened in addition to the back end for host tensors. Either all
     * ranks open this back end or no rank does.
     */
    private static Optional<BackendCandidate> agreedForDevices(
            BackendCandidate best, List<BackendCandidate> found, DeviceBackendAgreement agreement) {
        Optional<BackendCandidate> device = best.deviceKind.isPresent() ? Optional.empty() : bestForDevices(found);
        GroupSpec group = agreement.group();
        if (group.worldSize() == 1) {
            return device;
        }
        if (device.isEmpty()) {
            agreement.sayNone();
            return device;
        }
        String mine = device.get().deviceKind.get() + ":" + device.get().name;
        Optional<String> objection = agreement.objection(mine);
        if (objection.isPresent()) {
            LOG.log(
                    Level.WARNING,
                    "rank " + group.rank() + " of \"" + group.name() + "\" does not open " + mine + " in addition to "
                            + best.name + ": " + objection.get()
                            + "; device tensors can only go through host memory (ferro doctor on the hosts of "
                            + "those ranks shows the reason; if ferro.backend names a back end, this is an error)");
        }
        return objection.isPresent() ? Optional.empty() : device;
    }

    /**
     * Opens the back end for host tensors and the back end for device tensors. The back end for host tensors comes
     * first, because it may serve the store that the other back end needs to join.
     */
    private static Backend openBoth(
            BackendCandidate host, BackendCandidate device, GroupSpec group, JoiningContext joining) {
        joining.shareStore();
        try {
            Backend first = host.provider.create(group, joining);
            CollectiveBackend onHost =
                    first instanceof CollectiveBackend whole ? whole : CollectiveEngine.over(first, joining);
            return openBeside(onHost, device, group, joining);
        } catch (RuntimeException | Error failure) {
            joining.closeStore();
            throw failure;
        }
    }

    /**
     * The context of a back end that joins in addition to the engine of the same ranks. Back end and engine share
     * control connections.
     */
    private static final class SecondaryContext extends ForwardingContext {
        private static final long PURPOSE = 0x626573696465L;

        private final GroupEngine engine;

        SecondaryContext(RankContext outer, GroupEngine engine) {
            super(outer);
            this.engine = engine;
        }

        @Override
        public <T extends AutoCloseable> Optional<T> find(Class<T> type) {
            return type == ControlLane.class ? Optional.of(type.cast(engine.controlLane(PURPOSE))) : super.find(type);
        }
    }

    private static Backend openBeside(
            CollectiveBackend onHost, BackendCandidate device, GroupSpec group, JoiningContext joining) {
        RankContext beside = onHost instanceof GroupEngine engine ? new SecondaryContext(joining, engine) : joining;
        try {
            Backend second = device.provider.create(group, beside);
            Optional<CollectiveBackend> both = GpuCollectives.with(joining).over(onHost, second, joining::closeStore);
            if (both.isPresent()) {
                return both.get();
            }
            IllegalArgumentException failure = new IllegalArgumentException("cuda:" + device.name
                    + " has no NCCL view and cannot accept device tensors: name a back end that can, for "
                    + "example cpu:tcp,cuda:nccl, or name a single back end");
            ContextLifecycle.closeAfter(failure, second);
            throw failure;
        } catch (RuntimeException | Error failure) {
            ContextLifecycle.closeAfter(failure, onHost);
            throw failure;
        }
    }

    /** Loads every provider. A broken provider becomes a candidate with a reason and does not hide other providers. */
    static List<BackendCandidate> candidates(RankContext context) {
        List<BackendCandidate> found = new ArrayList<>();
        Services.each(
                Services.providers(BackendProvider.class),
                next -> found.add(BackendCandidate.of(next.type().getSimpleName(), next, context)),
                broken -> found.add(BackendCandidate.broken("(unreadable provider)", broken)));
        found.sort(new PriorityComparator());
        return found;
    }

    /** The order of candidates by priority. Candidates of equal priority are ordered by name. */
    private static final class PriorityComparator implements Comparator<BackendCandidate> {
        @Override
        public int compare(BackendCandidate one, BackendCandidate other) {
            int byPriority = Integer.compare(other.priority, one.priority);
            return byPriority != 0 ? byPriority : one.name.compareTo(other.name);
        }
    }

    private static BackendCandidate best(List<BackendCandidate> found) {
        for (BackendCandidate candidate : found) {
            if (candidate.priority >= 0 && candidate.unavailable().isEmpty()) {
                return candidate;
            }
        }
        String wayOut = withName("tcp", found).isPresent()
                ? ": remove the reason of one, or name a back end"
                : ": add ferro to the class path, or name a back end";
        throw refusal("no usable back end for -Dferro.backend=auto; found: " + list(found) + wayOut, found);
    }

    private static Optional<BackendCandidate> bestForDevices(List<BackendCandidate> found) {
        for (BackendCandidate candidate : found) {
            if (candidate.deviceKind.isPresent() && candidate.unavailable().isEmpty()) {
                return Optional.of(candidate);
            }
        }
        return Optional.empty();
    }

    private static Optional<BackendCandidate> withName(String name, List<BackendCandidate> found) {
        for (BackendCandidate candidate : found) {
            if (candidate.name.equals(name)) {
                return Optional.of(candidate);
            }
        }
        return Optional.empty();
    }

    private static BackendCandidate named(String name, String wanted, List<BackendCandidate> found) {
        String inPair = name.equals(wanted) ? "" : ", which names \"" + name + "\"";
        Optional<BackendCandidate> chosen = withName(name, found);
        if (chosen.isEmpty()) {
            throw refusal(
                    "no back end named -Dferro.backend=" + wanted + inPair + "; found: " + list(found)
                            + ": use one of these names, or add the jar that has it",
                    found);
        }
        if (chosen.get().unavailable().isPresent()) {
            throw refusal(
                    "no usable back end for -Dferro.backend=" + wanted + inPair + "; found: " + list(found), found);
        }
        return chosen.get();
    }

    /** Returns an exception with the errors of broken providers as its cause. */
    private static IllegalArgumentException refusal(String text, List<BackendCandidate> found) {
        ServiceErrors broken = new ServiceErrors();
        for (BackendCandidate candidate : found) {
            if (candidate.failure != null) {
                broken.add(candidate.failure);
            }
        }
        return new IllegalArgumentException(text, broken.cause());
    }

    private static String list(List<BackendCandidate> found) {
        StringJoiner list = new StringJoiner(", ").setEmptyValue("none");
        for (BackendCandidate candidate : found) {
            // queried before the name, because a provider that fails now gets the name of its class
            String state = candidate.unavailable().orElse("usable");
            list.add(candidate.name + " (" + state + ")");
        }
        return list.toString();
    }

    /**
     * The names of two back ends, one for host tensors and one for device tensors. The text {@code cpu:tcp,cuda:nccl}
     * is an example; the order does not matter. {@code hip} means the same as {@code cuda}.
     *
     * @param host   back end for host tensors, bytes and barriers
     * @param device back end for device tensors, which has an NCCL view
     */
    private record BackendPair(String host, String device) {
        private static final Map<String, String> PLACES = Map.of("cpu", "cpu", "cuda", "cuda", "hip", "cuda");

        /**
         * Parses a pair.
         *
         * @param text  value of {@code ferro.backend}
         * @param found the back ends that were found, for messages
         * @throws IllegalArgumentException if {@code text} is not a name for {@code cpu} and a name for {@code cuda}
         */
        static BackendPair of(String text, List<BackendCandidate> found) {
            Map<String, String> names = new HashMap<>();
            for (String part : text.split(",", -1)) {
                int colon = part.indexOf(':');
                String place = part.substring(0, Math.max(0, colon)).trim().toLowerCase(Locale.ROOT);
                String name = part.substring(colon + 1).trim();
                if (colon < 0 || name.isEmpty() || !PLACES.containsKey(place)) {
                    throw refused(text, "\"" + part.trim() + "\" is not KIND:NAME with kind cpu, cuda or hip", found);
                }
                if (names.put(PLACES.get(place), name) != null) {
                    throw refused(text, "\"" + place + "\" has two names", found);
                }
            }
            if (names.size() < 2) {
                throw refused(text, "one of cpu and cuda has no name", found);
            }
            if (names.get("cpu").equals(names.get("cuda"))) {
                throw refused(text, "cpu and cuda both name \"" + names.get("cpu") + "\"", found);
            }
            return new BackendPair(names.get("cpu"), names.get("cuda"));
        }

        private static IllegalArgumentException refused(String text, String why, List<BackendCandidate> found) {
            return new IllegalArgumentException(
                    "-Dferro.backend=" + text + ": " + why + "; found: " + list(found)
                            + ": name one back end for cpu and one for cuda, as in cpu:tcp,cuda:nccl, or one back end without a kind");
        }
    }

    /**
     * A provider that was found, even if it is not usable. Not thread-safe.
     *
     * <p>The provider is queried for a reason why it cannot work only when the reason is needed. So the start of a rank
     * spends no time on providers that the rank cannot choose.
     */
    static final class BackendCandidate {
        private final BackendProvider provider;
        private final RankContext context;
        private final String type;
        /** The name by which users select the provider; the name of the class if the provider itself is broken. */
        private String name;
        /** The priority of the provider; {@code auto} never chooses a provider with a priority below 0. */
        private int priority;
        /** The kind of device whose tensors the provider accepts; empty if the provider accepts only host memory. */
        private Optional<String> deviceKind = Optional.empty();
        /** Why the provider cannot work; empty if it can work, null until the provider was queried. */
        private Optional<String> unavailable;
        /** Why the provider is broken; null if the provider works or was not queried yet. */
        private Throwable failure;

        private BackendCandidate(String type, BackendProvider provider, RankContext context) {
            this.type = type;
            this.provider = provider;
            this.context = context;
        }

        /**
         * Makes a provider and queries the provider. A failure of the provider becomes the reason in
         * {@link #unavailable}.
         */
        static BackendCandidate of(String type, Supplier<BackendProvider> make, RankContext context) {
            try {
                BackendCandidate made = new BackendCandidate(type, make.get(), context);
                made.name = made.provider.name();
                made.priority = made.provider.priority();
                made.deviceKind = made.provider.deviceKind();
                return made;
            } catch (ServiceConfigurationError | LinkageError | RuntimeException broken) {
                return broken(type, broken);
            }
        }

        static BackendCandidate broken(String type, Throwable why) {
            BackendCandidate candidate = new BackendCandidate(type, null, null);
            candidate.breakBy(why);
            return candidate;
        }

        BackendReport report() {
            return new BackendReport(name, priority, unavailable());
        }

        private void breakBy(Throwable why) {
            name = type;
            priority = Integer.MIN_VALUE;
            deviceKind = Optional.empty();
            unavailable = Optional.of("broken: " + ServiceErrors.root(why));
            failure = why;
        }

        /** Returns why the provider cannot work in this process; empty if it can work. */
        Optional<String> unavailable() {
            if (unavailable == null) {
                try {
                    unavailable = provider.unavailableBecause(context);
                } catch (ServiceConfigurationError | LinkageError | RuntimeException broken) {
                    breakBy(broken);
                }
            }
            return unavailable;
        }
    }
}

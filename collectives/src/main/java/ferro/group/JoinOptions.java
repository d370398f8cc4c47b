package ferro.group;

import ferro.Store;
import ferro.spi.HostPort;
import ferro.spi.PortRange;
import ferro.spi.Setting;
import ferro.spi.Settings;
import ferro.spi.Surrogates;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * What a rank needs to join: its rank, its place on its host, its job, where the ranks meet, and settings. A launcher that
 * starts ranks as threads or tasks of processes that exist already describes each rank by options. The environment and
 * {@code ferro run} describe it by variables; {@link #ofProcess()} stands for these.
 *
 * {@snippet file="ferro/examples/snippets/JoinOptionsSnippetsTest.java" region="options" :
 *
 * JoinOptions options = JoinOptions.of(rank, worldSize)
 *         .group("stage3.0") // the same name on all ranks
 *         .local(localRank, localSize) // place among the ranks of this host
 *         .cores(4) // which all ranks of this host share
 *         .job("app-17", 2) // second attempt: ranks of the first are refused
 *         .storeAt("10.0.0.1:29500")
 *         .secret(secret) // 16 random bytes or more, the same on all ranks
 *         .timeout(Duration.ofSeconds(60))
 *         .setting("ferro.links", "tcp");
 * }
 *
 * <p>The settings of the process ({@code -Dferro.*}, then the environment) hold where the options name none. Variables that
 * say which rank a process is, and those of launchers, are not read for a rank that {@link #of} names.
 *
 * <p>Immutable: each method returns other options. Every value is checked when it is given. The text of the options does
 * not contain the secret.
 */
public final class JoinOptions {
    private static final String WORLD = "world";
    private static final Duration LONGEST = Duration.ofDays(365L * 200);
    private static final String TCP = "tcp://";
    private static final String SERVE = "serve://";
    /** Settings that have a method of their own. */
    private static final Map<String, String> TYPED = Map.ofEntries(
            Map.entry(Settings.RANK.name(), "of(rank, worldSize)"),
            Map.entry(Settings.WORLD_SIZE.name(), "of(rank, worldSize)"),
            Map.entry(Settings.ENV_RANK.name(), "of(rank, worldSize)"),
            Map.entry(Settings.ENV_WORLD_SIZE.name(), "of(rank, worldSize)"),
            Map.entry(Settings.LOCAL_RANK.name(), "local(rank, size)"),
            Map.entry(Settings.LOCAL_WORLD_SIZE.name(), "local(rank, size)"),
            Map.entry(Settings.LOCAL_CORES.name(), "cores(count)"),
            Map.entry(Settings.JOB_ID.name(), "job(name, generation)"),
            Map.entry(Settings.RENDEZVOUS.name(), "storeAt(endpoint) or serveStore(host, ports)"),
            Map.entry(Settings.STORE_SERVED.name(), "storeAt(endpoint) or serveStore(host, ports)"));

    /** Variables by which launchers say where the store is. */
    private static final Set<String> OF_STORE = Set.of(
            Settings.MASTER_ADDR.name(),
            Settings.MASTER_PORT.name(),
            Settings.FERRO_MASTER_PORT.name(),
            Settings.TORCHELASTIC_USE_AGENT_STORE.name(),
            Settings.STORE_SERVED.name(),
            Settings.RENDEZVOUS.variable());

    /** Variables that say which rank a process is. */
    private static final Set<String> OF_RANK = Set.of(
            Settings.RANK.variable(),
            Settings.WORLD_SIZE.variable(),
            Settings.ENV_RANK.name(),
            Settings.ENV_WORLD_SIZE.name(),
            Settings.LOCAL_RANK.name(),
            Settings.LOCAL_WORLD_SIZE.name());

    private final String group;
    private final Map<String, String> overrides;
    private final Store store;
    private final byte[] secret;

    private JoinOptions(String group, Map<String, String> overrides, Store store, byte[] secret) {
        this.group = group;
        this.overrides = overrides;
        this.store = store;
        this.secret = secret;
    }

    /**
     * Returns the options of a rank that its process describes, by settings or by the variables of a launcher, as
     * {@link ProcessGroup#join()} joins.
     *
     * @return options that name nothing yet
     */
    public static JoinOptions ofProcess() {
        return new JoinOptions(WORLD, Map.of(), null, null);
    }

    /**
     * Returns the options of a given rank.
     *
     * @param rank      this rank, from 0
     * @param worldSize number of ranks
     * @return options
     * @throws IllegalArgumentException if the rank is not below the number of ranks
     */
    public static JoinOptions of(int rank, int worldSize) {
        if (worldSize < 1 || rank < 0 || rank >= worldSize) {
            throw new IllegalArgumentException(
                    "there is no rank " + rank + " of world size " + worldSize + ": ranks go from 0 to world size - 1");
        }
        return ofProcess().with(Settings.RANK, "" + rank).with(Settings.WORLD_SIZE, "" + worldSize);
    }

    /**
     * Names the group.
     *
     * @param name equal on every rank; {@code world} if none is given
     * @return options
     * @throws IllegalArgumentException if it is blank, or has half of a surrogate pair
     */
    public JoinOptions group(String name) {
        if (Objects.requireNonNull(name, "name").isBlank()) {
            throw new IllegalArgumentException("the name of a group cannot be blank, found \"" + name + "\"");
        }
        return new JoinOptions(
                Surrogates.refuseHalves("the name of group \"" + name + "\"", name), overrides, store, secret);
    }

    /**
     * Says which of the ranks of its host this rank is: it decides the device, the port of a range, and with the number of
     * cores how a rank waits.
     *
     * @param rank number among the ranks of this host, from 0
     * @param size number of ranks on this host
     * @return options
     * @throws IllegalArgumentException if the rank is not below the number of ranks
     */
    public JoinOptions local(int rank, int size) {
        if (size < 1 || rank < 0 || rank >= size) {
            throw new IllegalArgumentException("there is no rank " + rank + " of " + size
                    + " ranks on a host: they go from 0 to the number of ranks - 1");
        }
        return with(Settings.LOCAL_RANK, "" + rank).with(Settings.LOCAL_WORLD_SIZE, "" + size);
    }

    /**
     * Says how many cores the ranks of this host share.
     *
     * @param count cores; what the JVM sees if none is given
     * @return options
     * @throws IllegalArgumentException if it is less than 1
     */
    public JoinOptions cores(int count) {
        if (count < 1) {
            throw new IllegalArgumentException("the ranks of a host share at least 1 core, found " + count);
        }
        return with(Settings.LOCAL_CORES, "" + count);
    }

    /**
     * Names the job. Processes of another job, or of another generation of this one, are refused.
     *
     * @param name       of the job, equal on all ranks
     * @param generation number of the attempt, from 0, equal on all ranks
     * @return options
     * @throws IllegalArgumentException if the name is blank, the generation negative, or both together, {@code name.2}, have
     *     more than 64 bytes in UTF-8 or half of a surrogate pair
     */
    public JoinOptions job(String name, int generation) {
        return with(Settings.JOB_ID, jobId(name, generation));
    }

    /**
     * Returns the id of a job as {@link #job} sets it, for a process that serves the store and is no rank.
     *
     * @param name       of the job
     * @param generation number of the attempt, from 0
     * @return {@code name.2}
     * @throws IllegalArgumentException as {@link #job}
     */
    public static String jobId(String name, int generation) {
        if (Objects.requireNonNull(name, "name").isBlank() || generation < 0) {
            throw new IllegalArgumentException(
                    "a job has a name that is not blank and a generation of 0 or more, found \"" + name + "\" and "
                            + generation);
        }
        return Settings.JOB_ID.read(name + "." + generation);
    }

    /**
     * Gives the store that the process has already. It stays open: its owner closes it.
     *
     * @param opened store; replaces what earlier calls say about the store
     * @return options
     */
    public JoinOptions store(Store opened) {
        return new JoinOptions(group, withoutStore(), Objects.requireNonNull(opened, "opened"), secret);
    }

    /**
     * Says where another process serves the store.
     *
     * @param endpoint host and port, {@code 10.0.0.1:29500}, as {@link SystemContext#storeEndpoint} returns it; an IPv6
     *     address in brackets; replaces what earlier calls say about the store
     * @return options
     * @throws IllegalArgumentException if it is anything else
     */
    public JoinOptions storeAt(String endpoint) {
        int port = HostPort.of(Objects.requireNonNull(endpoint, "endpoint"))
                .map(HostPort::port)
                .orElse(-1);
        if (port < 1 || port > PortRange.HIGHEST) {
            throw new IllegalArgumentException(
                    "the store cannot be at \"" + endpoint + "\": need HOST:PORT, for example 10.0.0.1:29500");
        }
        return new JoinOptions(group, withoutStore(), null, secret)
                .with(Settings.RENDEZVOUS, TCP + endpoint)
                .with(Settings.STORE_SERVED, "1");
    }

    /**
     * Makes this rank serve the store, on the one port that it listens on for data too.
     * {@link SystemContext#storeEndpoint} returns the address for {@link #storeAt} of the others.
     *
     * @param host  address or name of this machine that the other ranks reach; off loopback a secret is needed
     * @param ports ports of which a free one is bound, the one that the local rank counts to first, {@code 0} for any
     *     ({@code ferro.tcp.port})
     * @return options; replaces what earlier calls say about the store
     * @throws IllegalArgumentException if the host is none
     */
    public JoinOptions serveStore(String host, PortRange ports) {
        Objects.requireNonNull(host, "host");
        Objects.requireNonNull(ports, "ports");
        HostPort read =
                HostPort.of(host).or(() -> HostPort.of("[" + host + "]")).orElse(null);
        if (read == null
                || read.port() >= 0
                || read.host().equals("0.0.0.0")
                || read.host().equals("::")) {
            throw new IllegalArgumentException("the store cannot be served at \"" + host
                    + "\": need a host name or an address that the other ranks reach, without a port");
        }
        return new JoinOptions(group, withoutStore(), null, secret)
                .with(Settings.RENDEZVOUS, SERVE + read)
                .with(Settings.TCP_PORT, ports.toString());
    }

    /**
     * Gives the secret of the job. It wins over {@code FERRO_SECRET_FILE}.
     *
     * @param bytes equal on all ranks, copied; at least 16 random bytes where other machines can reach this rank
     * @return options
     * @throws IllegalArgumentException if there are none
     */
    public JoinOptions secret(byte[] bytes) {
        int length = Objects.requireNonNull(bytes, "bytes").length;
        if (length == 0) {
            throw new IllegalArgumentException(
                    "need a secret of at least 1 byte, found " + length + ": leave it out for ranks on loopback");
        }
        return new JoinOptions(group, overrides, store, bytes.clone());
    }

    /**
     * Sets the deadline of every call, and of joining unless {@link #joinTimeout} sets another ({@code ferro.timeout}).
     *
     * @param deadline more than a century means no deadline
     * @return options
     * @throws IllegalArgumentException if it is less than a millisecond
     */
    public JoinOptions timeout(Duration deadline) {
        return with(Settings.TIMEOUT, millis(Objects.requireNonNull(deadline, "deadline")));
    }

    /**
     * Sets the deadline of joining ({@code ferro.join.timeout}).
     *
     * @param deadline more than a century means no deadline
     * @return options
     * @throws IllegalArgumentException if it is less than a millisecond
     */
    public JoinOptions joinTimeout(Duration deadline) {
        return with(Settings.JOIN_TIMEOUT, millis(Objects.requireNonNull(deadline, "deadline")));
    }

    /**
     * Sets any other setting; docs/configuration.md lists them.
     *
     * @param name  property ({@code ferro.links}) or its variable ({@code FERRO_LINKS})
     * @param value text, as on a command line
     * @return options
     * @throws IllegalArgumentException if there is no such setting, it has a method of its own here, or the value makes no
     *     sense
     */
    public JoinOptions setting(String name, String value) {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(value, "value");
        Setting<?> setting = Settings.all().stream()
                .filter(one -> one.name().equals(name) || one.variable().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(UnknownSettings.text(name)));
        if (TYPED.containsKey(setting.name())) {
            throw new IllegalArgumentException(
                    name + "=" + value + " is not set by its name in options: call " + TYPED.get(setting.name()));
        }
        return with(setting, value);
    }

    /**
     * Sets several settings.
     *
     * @param values texts by property or variable
     * @return options
     * @throws IllegalArgumentException as {@link #setting}
     */
    public JoinOptions settings(Map<String, String> values) {
        JoinOptions all = this;
        for (Map.Entry<String, String> one :
                Objects.requireNonNull(values, "values").entrySet()) {
            all = all.setting(one.getKey(), one.getValue());
        }
        return all;
    }

    /**
     * Returns the options as text, without the secret.
     *
     * @return for people
     */
    @Override
    public String toString() {
        return "JoinOptions[group=" + group + ", " + overrides + (store == null ? "" : ", store given")
                + (secret == null ? "" : ", secret given") + "]";
    }

    // methods for this package

    String group() {
        return group;
    }

    Store store() {
        return store;
    }

    Optional<byte[]> secret() {
        return Optional.ofNullable(secret).map(byte[]::clone);
    }

    /** Returns where another process serves the store. */
    Optional<String> endpoint() {
        return Optional.ofNullable(overrides.get(Settings.RENDEZVOUS.name()))
                .filter(text -> text.startsWith(TCP))
                .map(text -> text.substring(TCP.length()));
    }

    /** Returns the settings, by property; by variable for those that are variables only. */
    Map<String, String> overrides() {
        return overrides;
    }

    /** Returns whether the options say which rank this is. */
    boolean isPlaced() {
        return overrides.containsKey(Settings.RANK.name());
    }

    /** Returns whether a variable of the process does not count. */
    boolean hides(String variable, boolean isSetting) {
        boolean ofFerro = isSetting || variable.startsWith("FERRO_");
        boolean ofRank = isPlaced() && (!ofFerro || OF_RANK.contains(variable));
        boolean storeNamed = store != null || overrides.containsKey(Settings.RENDEZVOUS.name());
        return ofRank || storeNamed && OF_STORE.contains(variable);
    }

    private JoinOptions with(Setting<?> setting, String value) {
        Map<String, String> all = new TreeMap<>(overrides);
        setting.read(value);
        all.put(setting.name(), value);
        return new JoinOptions(group, all, store, secret);
    }

    private Map<String, String> withoutStore() {
        Map<String, String> all = new TreeMap<>(overrides);
        String before = all.remove(Settings.RENDEZVOUS.name());
        if (before != null && before.startsWith(SERVE)) {
            all.remove(Settings.TCP_PORT.name());
        }
        all.remove(Settings.STORE_SERVED.name());
        return all;
    }

    private static String millis(Duration deadline) {
        if (deadline.compareTo(Duration.ofMillis(1)) < 0) {
            throw new IllegalArgumentException("a deadline must be at least 1 ms, found " + deadline);
        }
        return (deadline.compareTo(LONGEST) > 0 ? LONGEST : deadline).toMillis() + "ms";
    }
}

package ferro.group;

import ferro.Store;
import ferro.spi.HostPort;
import ferro.spi.PortRange;
import ferro.spi.Setting;
import ferro.spi.Settings;
import ferro.spi.SurrogateCheck;
import ferro.spi.UnknownSettings;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * The options of a rank that joins by {@link ProcessGroup#join(JoinOptions)}: rank, number on the host, job, address of
 * the store, and settings. A program or a launcher that starts ranks as threads or tasks of existing processes
 * describes each rank by options. The environment and {@code ferro run} describe a rank by variables, which {@link
 * #ofProcess()} uses.
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
 * <p>A setting that the options do not name comes from the process: from {@code -Dferro.*}, else from the environment. For a
 * rank that {@link #of} names, the variables that give a process its rank and the variables of launchers are not read.
 *
 * <p>Immutable: each method returns new options. Every value is checked when it is set. {@link #toString} does not contain the
 * secret.
 */
public final class JoinOptions {
    private static final String WORLD = "world";
    private static final Duration LONGEST = Duration.ofDays(365L * 200);
    private static final String TCP = "tcp://";
    private static final String SERVE = "serve://";
    /** Settings that have their own method, with the name of the method. */
    private static final Map<String, String> TYPED = Map.ofEntries(
            Map.entry(Settings.RANK.name(), "of(rank, worldSize)"),
            Map.entry(Settings.WORLD_SIZE.name(), "of(rank, worldSize)"),
            Map.entry(Settings.ENV_RANK.name(), "of(rank, worldSize)"),
            Map.entry(Settings.ENV_WORLD_SIZE.name(), "of(rank, worldSize)"),
            Map.entry(Settings.LOCAL_RANK.name(), "local(rank, size)"),
            Map.entry(Settings.LOCAL_WORLD_SIZE.name(), "local(rank, size)"),
            Map.entry(Settings.LOCAL_CORES.name(), "cores(count)"),
            Map.entry(Settings.JOB_ID.name(), "job(name, generation)"),
            Map.entry(Settings.GENERATION.name(), "job(name, generation)"),
            Map.entry(Settings.RENDEZVOUS.name(), "storeAt(endpoint) or serveStore(host, ports)"),
            Map.entry(Settings.STORE_SERVED.name(), "storeAt(endpoint) or serveStore(host, ports)"));

    /** Variables in which launchers set the address of the store. */
    private static final Set<String> OF_STORE = Set.of(
            Settings.MASTER_ADDR.name(),
            Settings.MASTER_PORT.name(),
            Settings.FERRO_MASTER_PORT.name(),
            Settings.TORCHELASTIC_USE_AGENT_STORE.name(),
            Settings.STORE_SERVED.name(),
            Settings.RENDEZVOUS.variable());

    /** Variables that give a process its rank. */
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
     * Returns the options of a rank whose process has the settings or the variables of a launcher. {@link ProcessGroup#join()}
     * joins with these options.
     *
     * @return options without any setting
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
     * Sets the name of the group.
     *
     * @param name equal on every rank; {@code world} by default
     * @return options
     * @throws IllegalArgumentException if the name is blank, or has half of a surrogate pair
     */
    public JoinOptions group(String name) {
        if (Objects.requireNonNull(name, "name").isBlank()) {
            throw new IllegalArgumentException("the name of a group cannot be blank, found \"" + name + "\"");
        }
        return new JoinOptions(
                SurrogateCheck.refuseHalves("the name of group \"" + name + "\"", name), overrides, store, secret);
    }

    /**
     * Sets the number of this rank among the ranks of its host. The local rank selects a device, and a port from a
     * range of ports. Together with the number of cores, {@code size} decides how a rank waits.
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
     * Sets how many cores the ranks of this host share.
     *
     * @param count number of cores; by default the number that the JVM reports
     * @return options
     * @throws IllegalArgumentException if the count is less than 1
     */
    public JoinOptions cores(int count) {
        if (count < 1) {
            throw new IllegalArgumentException("the ranks of a host share at least 1 core, found " + count);
        }
        return with(Settings.LOCAL_CORES, "" + count);
    }

    /**
     * Sets the name of the job. Processes of another job, or of another generation of this job, are refused.
     *
     * @param name       name of the job, equal on all ranks
     * @param generation number of the attempt, from 0, equal on all ranks; {@link ProcessGroup#generation} returns this
     *     number
     * @return options
     * @throws IllegalArgumentException if the name is blank, the generation is negative, or the id of the job, such as
     *     {@code name.2}, has more than 64 bytes in UTF-8 or half of a surrogate pair
     */
    public JoinOptions job(String name, int generation) {
        return with(Settings.JOB_ID, jobId(name, generation)).with(Settings.GENERATION, "" + generation);
    }

    /**
     * Returns the id that {@link #job} sets, for a process that serves the store and is not a rank.
     *
     * @param name       name of the job
     * @param generation number of the attempt, from 0
     * @return {@code name.2}
     * @throws IllegalArgumentException in the same cases as {@link #job}
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
     * Sets a store that the process has already opened. The owner of the store closes the store.
     *
     * @param opened store; replaces the store of earlier calls
     * @return options
     */
    public JoinOptions store(Store opened) {
        return new JoinOptions(group, withoutStore(), Objects.requireNonNull(opened, "opened"), secret);
    }

    /**
     * Sets the address at which another process serves the store.
     *
     * @param endpoint host and port, {@code 10.0.0.1:29500}, as {@link SystemContext#storeEndpoint} returns it; an IPv6 address
     *     has brackets; replaces the store of earlier calls
     * @return options
     * @throws IllegalArgumentException if {@code endpoint} has another form
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
     * Makes this rank serve the store, on the same port on which it accepts connections for data. The other ranks pass
     * the address to {@link #storeAt}. With one port, such as {@code "29500"}, the address is known in advance. With a
     * range, {@link SystemContext#storeEndpoint} returns the address before this rank joins.
     *
     * @param host  address or name of this machine that the other ranks can reach; an address other than loopback needs a
     *     secret
     * @param ports one port ({@code "29500"}), or a range of ports ({@code "29500-29563"}), of which this rank binds a
     *     free port; this rank first tries the port at the index of its local rank. {@code "0"} means any port ({@code
     *     ferro.tcp.port})
     * @return options, which replace the store of earlier calls
     * @throws IllegalArgumentException if {@code host} is not a host name or address, or has a port, or if {@code
     *     ports} is not a port or range of ports
     */
    public JoinOptions serveStore(String host, String ports) {
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
                .with(Settings.TCP_PORT, ports);
    }

    /**
     * Sets the secret of the job. The secret takes precedence over {@code FERRO_SECRET_FILE}.
     *
     * @param bytes secret, equal on all ranks; the bytes are copied; at least 16 random bytes if other machines can reach this
     *     rank
     * @return options
     * @throws IllegalArgumentException if {@code bytes} is empty
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
     * Sets the deadline of every call ({@code ferro.timeout}). This deadline also applies to joining, unless {@link
     * #joinTimeout} or the setting {@code ferro.join.timeout} of the process sets another deadline.
     *
     * @param deadline time; more than a century means no deadline
     * @return options
     * @throws IllegalArgumentException if the deadline is less than a millisecond
     */
    public JoinOptions timeout(Duration deadline) {
        return with(Settings.TIMEOUT, millis(Objects.requireNonNull(deadline, "deadline")));
    }

    /**
     * Sets the deadline of joining ({@code ferro.join.timeout}).
     *
     * @param deadline time; more than a century means no deadline
     * @return options
     * @throws IllegalArgumentException if the deadline is less than a millisecond
     */
    public JoinOptions joinTimeout(Duration deadline) {
        return with(Settings.JOIN_TIMEOUT, millis(Objects.requireNonNull(deadline, "deadline")));
    }

    /**
     * Sets any other setting; docs/configuration.md lists all settings.
     *
     * @param name  property ({@code ferro.links}) or its variable ({@code FERRO_LINKS})
     * @param value text, as on a command line
     * @return options
     * @throws IllegalArgumentException if no such setting exists, the setting has its own method in this class, or the
     *     value is invalid
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
                    name + "=" + value + " cannot be set by name in options: call " + TYPED.get(setting.name()));
        }
        return with(setting, value);
    }

    /**
     * Sets several settings.
     *
     * @param values values as text, by property or variable
     * @return options
     * @throws IllegalArgumentException in the same cases as {@link #setting}
     */
    public JoinOptions settings(Map<String, String> values) {
        JoinOptions all = this;
        for (Map.Entry<String, String> one :
                Objects.requireNonNull(values, "values").entrySet()) {
            all = all.setting(one.getKey(), one.getValue());
        }
        return all;
    }

    /** {@return a description of the options without the secret} */
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
        return secret == null ? Optional.empty() : Optional.of(secret.clone());
    }

    /** Returns the address at which another process serves the store. */
    Optional<String> endpoint() {
        return Optional.ofNullable(overrides.get(Settings.RENDEZVOUS.name()))
                .filter(text -> text.startsWith(TCP))
                .map(text -> text.substring(TCP.length()));
    }

    /** Returns the settings by property. A setting without a property is in the map by its variable. */
    Map<String, String> overrides() {
        return overrides;
    }

    /** Returns whether the options give the deadline of every call. */
    boolean isTimed() {
        return overrides.containsKey(Settings.TIMEOUT.name());
    }

    /** Returns whether the options give the rank. */
    boolean isPlaced() {
        return overrides.containsKey(Settings.RANK.name());
    }

    /** Returns whether these options hide a variable of the process. */
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
            throw new IllegalArgumentException("a timeout must be at least 1 ms, found " + deadline);
        }
        return (deadline.compareTo(LONGEST) > 0 ? LONGEST : deadline).toMillis() + "ms";
    }
}

package ferro.spi;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.function.Function;

/**
 * The list of all settings of ferro. docs/configuration.md has the same list, and a test compares the two.
 *
 * <p>A property takes precedence over its variable, and the variable over the default.
 */
public final class Settings {
    /** All settings, in their order; complete when this class is initialised. */
    private static final List<Setting<?>> ALL = new ArrayList<>();

    private static final Function<String, String> TEXT = new Parser<>(SettingForm.TEXT, String.class);
    private static final Function<String, String> NAME = new Parser<>(SettingForm.NAME, String.class);
    private static final Function<String, String> FOLDER = new Parser<>(SettingForm.FOLDER, String.class);
    private static final Function<String, String> LIBRARY = new Parser<>(SettingForm.LIBRARY, String.class);
    private static final Function<String, Integer> INTEGER = new Parser<>(SettingForm.INTEGER, Integer.class);
    private static final Function<String, Integer> COUNT = new Parser<>(SettingForm.COUNT, Integer.class);
    private static final Function<String, Long> BYTES = new Parser<>(SettingForm.BYTES, Long.class);
    private static final Function<String, Duration> DURATION = new Parser<>(SettingForm.DURATION, Duration.class);
    private static final Function<String, Duration> INTERVAL = new Parser<>(SettingForm.INTERVAL, Duration.class);
    private static final Function<String, Boolean> FLAG = new Parser<>(SettingForm.FLAG, Boolean.class);

    /** Name of the back end to open. */
    public static final Setting<String> BACKEND =
            setting("ferro.backend", "the name of a back end, or auto", TEXT, "auto");
    /** Default time limit of every call. */
    public static final Setting<Duration> TIMEOUT =
            setting("ferro.timeout", "a time such as 500ms, 3s or 2m", DURATION, "120s");
    /** Time limit of joining, see {@link Deadlines#ofJoin}. */
    public static final Setting<Duration> JOIN_TIMEOUT =
            setting("ferro.join.timeout", "a time such as 30s or 10m", DURATION, "120s");
    /**
     * Whether ranks stand in a debugger. Then calls, joins, closes and the silence of ranks have no time limit, see
     * {@link Deadlines#inForce}. The value must be equal on all ranks.
     */
    public static final Setting<Boolean> DEBUG =
            setting("ferro.debug", "true or false, equal on all ranks", FLAG, "false");
    /** Folder of the file in which rank 0 publishes its address to the other ranks. */
    public static final Setting<String> JOB_DIR =
            setting("ferro.job.dir", "an absolute path of a folder that all ranks can write", FOLDER);
    /** Address of the store. */
    public static final Setting<String> RENDEZVOUS =
            setting("ferro.rendezvous", "env://, tcp://host:port or serve://host", TEXT, "env://");
    /** Number of this rank; if it is unset, the variable RANK is used. */
    public static final Setting<Integer> RANK = setting("ferro.rank", "a rank from 0", INTEGER);
    /** Number of ranks; if it is unset, the variable WORLD_SIZE is used. */
    public static final Setting<Integer> WORLD_SIZE = setting("ferro.world.size", "a number of ranks from 1", INTEGER);
    /** Algorithms that the user chooses in place of the default ones. The value must be equal on all ranks. */
    public static final Setting<String> ALGORITHM =
            setting("ferro.algorithm", "pairs such as allReduce=ring,broadcast=binomial", TEXT, "");
    /** Size of the pieces in which a chunk is sent. */
    public static final Setting<Long> SEGMENT = setting("ferro.segment", "a size such as 64KiB", BYTES, "512KiB");
    /** Bytes of messages of one peer that no receive has matched, above which this rank reads no more from the peer. */
    public static final Setting<Long> MESSAGE_BUFFER =
            setting("ferro.message.buffer", "a size such as 16MiB", BYTES, "16MiB");
    /**
     * Number of times that a waiting rank polls before it sleeps. If it is unset, the number depends on the cores of
     * the host.
     */
    public static final Setting<Integer> SPIN_COUNT =
            setting("ferro.spin.count", "a number of polls, 0 to sleep at once", COUNT);
    /** The only seed that a simulation test runs, to replay a failure. */
    public static final Setting<Long> SEED = setting(
            "ferro.seed",
            "an integer, such as the seed in a failure message",
            new Parser<>(SettingForm.LONG, Long.class));
    /** Interval between the heartbeats of a rank. */
    public static final Setting<Duration> HEARTBEAT_INTERVAL =
            setting("ferro.heartbeat.interval", "a time such as 200ms, or 0s for none", INTERVAL, "2s");
    /** Time that a rank may be silent before it is suspected. A suspicion only sends an event. */
    public static final Setting<Duration> HEARTBEAT_SUSPECT =
            setting("ferro.heartbeat.suspect", "a time such as 5s", DURATION, "5s");
    /** Time that a rank may be silent before its groups fail. */
    public static final Setting<Duration> HEARTBEAT_LIMIT =
            setting("ferro.heartbeat.limit", "a time such as 30s", DURATION, "30s");
    /** Folder to which each rank writes the contents of its flight recorder when a group fails. */
    public static final Setting<String> RECORDER_DIR =
            setting("ferro.recorder.dir", "a folder, which is created if it does not exist", TEXT);
    /** Number of operations that the flight recorder keeps. */
    public static final Setting<Integer> RECORDER_ENTRIES =
            setting("ferro.recorder.entries", "a number, 0 for no recorder", COUNT, "2048");
    /** Port to listen on, or a range of ports that the ranks of a host share. */
    public static final Setting<PortRange> TCP_PORT = setting(
            "ferro.tcp.port",
            "a port, a range such as 20000-20015, or 0 for any free one",
            new Parser<>(SettingForm.PORTS, PortRange.class),
            "0");
    /** Address to listen on. */
    public static final Setting<String> TCP_BIND = setting(
            "ferro.tcp.bind",
            "an address of this machine, or auto for the address on the route to the rendezvous",
            TEXT,
            "auto");
    /** Address that is advertised to the other ranks. */
    public static final Setting<String> TCP_ADVERTISE =
            setting("ferro.tcp.advertise", "an address or host name, or auto for the bound address", TEXT, "auto");
    /** Network interfaces that a rank may use. */
    public static final Setting<InterfaceFilter> TCP_INTERFACE = setting(
            "ferro.tcp.interface",
            "names and networks such as eth0,ib0 or 10.0.0.0/8; a leading ^ excludes them",
            new Parser<>(SettingForm.INTERFACES, InterfaceFilter.class));
    /** I/O interface of the sockets. */
    public static final Setting<String> TCP_IO = setting("ferro.tcp.io", "auto, epoll or nio", TEXT, "auto");
    /** Congestion control of data links. */
    public static final Setting<String> TCP_CONGESTION = setting(
            "ferro.tcp.congestion",
            "auto (reno on loopback, else the system's), system, or a name such as reno",
            TEXT,
            "auto");
    /** Whether data links carry checksums. */
    public static final Setting<Boolean> TCP_CHECKSUM =
            setting("ferro.tcp.checksum", "1 or 0, equal on all ranks", FLAG, "0");
    /** Time that a connecting side waits for each answer of a handshake before it connects again. */
    public static final Setting<Duration> TCP_HANDSHAKE_TIMEOUT =
            setting("ferro.tcp.handshake.timeout", "a time such as 5s", DURATION, "5s");
    /** Which connections are encrypted. */
    public static final Setting<String> TLS = setting(
            "ferro.tls",
            "auto, on or off, equal on all ranks",
            new OneOf("is none of these", "auto", "on", "off"),
            "auto");
    /** Library that encrypts: that of the JDK or OpenSSL. */
    public static final Setting<String> TLS_PROVIDER = setting(
            "ferro.tls.provider",
            "auto (openssl if it is available), jdk or openssl",
            new OneOf("is none of these", "auto", "jdk", "openssl"),
            "auto");
    /**
     * Maximum number of bytes that one side of a data connection encrypts with one key, if the TLS engine does not
     * change keys itself.
     */
    public static final Setting<Long> TLS_KEY_BYTES = setting(
            "ferro.tls.key.bytes",
            "a size from 1MiB to 256GiB",
            new Parser<>(SettingForm.KEY_BYTES, Long.class),
            "128GiB");
    /** File with the certificates of this rank, leaf first. */
    public static final Setting<String> TLS_CERTIFICATE =
            setting("ferro.tls.certificate", "a PEM file of certificates, leaf first", TEXT);
    /** File with the private key of the first certificate in {@link #TLS_CERTIFICATE}. */
    public static final Setting<String> TLS_KEY = setting("ferro.tls.key", "a PEM file with a key in PKCS#8", TEXT);
    /** File with the certificates of the authorities that must have issued the certificates of the other ranks. */
    public static final Setting<String> TLS_TRUST = setting("ferro.tls.trust", "a PEM file of certificates", TEXT);
    /** Pattern of a name that the certificates of the other ranks must contain. */
    public static final Setting<String> TLS_NAME =
            setting("ferro.tls.name", "a URI or DNS name, where * matches one part", TEXT);
    /** Kind of link that carries data between ranks of one host. */
    public static final Setting<String> LINKS = setting(
            "ferro.links",
            "auto (shared memory where it works), tcp or shm (shared memory only)",
            new OneOf("is no kind of link", "auto", "tcp", "shm"),
            "auto");
    /** Name by which this rank identifies its host. Ranks with equal names try to share memory. */
    public static final Setting<String> HOST = setting("ferro.host", "a name of at most 64 bytes", NAME);
    /** Maximum shared memory that one rank may use. */
    public static final Setting<Long> SHM_BYTES = setting("ferro.shm.bytes", "a size such as 512MiB", BYTES, "512MiB");
    /** Folder in which segments of shared memory are created. */
    public static final Setting<String> SHM_DIR = setting("ferro.shm.dir", "an absolute path", TEXT, "/dev/shm");
    /** Whether device tensors may go through host memory if NCCL is not available. */
    public static final Setting<Boolean> GPU_FALLBACK = setting("ferro.gpu.fallback", "1 or 0", FLAG);
    /** Name of the back end for host tensors if {@code gloo-fallback} is selected by name. */
    public static final Setting<String> FALLBACK_HOST =
            setting("ferro.fallback.host", "the name of a back end for host memory", TEXT, "tcp");
    /** Size of the pieces of the host round trip. */
    public static final Setting<Long> FALLBACK_CHUNK =
            setting("ferro.fallback.chunk", "a size such as 32MiB, equal on all ranks", BYTES, "32MiB");
    /** The device that this rank uses. */
    public static final Setting<Integer> NCCL_DEVICE = setting("ferro.nccl.device", "a device ordinal from 0", INTEGER);
    /** Location of libnccl. */
    public static final Setting<String> NCCL_LIBRARY =
            setting("ferro.nccl.library", "an absolute path or a plain library name", LIBRARY);
    /** Location of the CUDA runtime. */
    public static final Setting<String> CUDART_LIBRARY =
            setting("ferro.cudart.library", "an absolute path or a plain library name", LIBRARY);
    /** Folders that JNA, and therefore ferro, searches first for native libraries. */
    public static final Setting<String> JNA_LIBRARY_PATH =
            setting("jna.library.path", "absolute paths of folders", TEXT);
    /** Another variable for {@link #GPU_FALLBACK}. This variable takes effect if it is set, also if it is set to 0. */
    public static final Setting<Boolean> ENABLE_GPU_FALLBACK = setting("FERRO_ENABLE_GPU_FALLBACK", "1 or 0", FLAG);
    /** Older name of {@link #ENABLE_GPU_FALLBACK}. */
    public static final Setting<Boolean> FERROTORCH_ENABLE_GPU_FALLBACK =
            setting("FERROTORCH_ENABLE_GPU_FALLBACK", "1 or 0", FLAG);
    /** Number of this rank, as launchers set it. */
    public static final Setting<Integer> ENV_RANK = setting("RANK", "a rank from 0", INTEGER);
    /** Number of ranks as launchers set it. */
    public static final Setting<Integer> ENV_WORLD_SIZE = setting("WORLD_SIZE", "a number of ranks from 1", INTEGER);
    /** Rank on this host. */
    public static final Setting<Integer> LOCAL_RANK = setting("LOCAL_RANK", "a rank on this host from 0", INTEGER);
    /** Number of ranks on this host. */
    public static final Setting<Integer> LOCAL_WORLD_SIZE =
            setting("LOCAL_WORLD_SIZE", "a number of ranks from 1", INTEGER);
    /**
     * Number of cores that the ranks of this host share. The JVM of a rank that is bound to some of these cores reports
     * a smaller number.
     */
    public static final Setting<Integer> LOCAL_CORES =
            setting("FERRO_LOCAL_CORES", "a number of cores from 1", INTEGER);
    /** Host of the store if the rendezvous is {@code env://}. */
    public static final Setting<String> MASTER_ADDR = setting("MASTER_ADDR", "a host name or address", TEXT);
    /** Port of the store if the rendezvous is {@code env://}. */
    public static final Setting<Integer> MASTER_PORT = setting("MASTER_PORT", "a port", INTEGER);
    /** Port of ferro's store if torchrun uses MASTER_PORT itself. */
    public static final Setting<Integer> FERRO_MASTER_PORT = setting("FERRO_MASTER_PORT", "a port", INTEGER);
    /** Whether the agent of torchrun uses MASTER_PORT itself. */
    public static final Setting<Boolean> TORCHELASTIC_USE_AGENT_STORE =
            setting("TORCHELASTIC_USE_AGENT_STORE", "True or False", FLAG, "False");
    /** Whether the launcher serves the store, so that rank 0 must not serve it. */
    public static final Setting<Boolean> STORE_SERVED = setting("FERRO_STORE_SERVED", "1 or 0", FLAG, "0");
    /** Identity of the job, which distinguishes two jobs on one port. */
    public static final Setting<String> JOB_ID = setting("FERRO_JOB_ID", "a name of at most 64 bytes", NAME, "default");
    /** How often the job has been started again. */
    public static final Setting<Integer> GENERATION = setting("FERRO_GENERATION", "a number of restarts from 0", COUNT);
    /** File in which a rank reports the steps of its checkpoints to its launcher. */
    public static final Setting<String> CHECKPOINT_REPORT = setting("FERRO_CHECKPOINT_REPORT", "a file", TEXT);
    /** Whether the launcher shows traces of ranks with all frames of ferro and of the JDK. */
    public static final Setting<Boolean> FULL_TRACES = setting("FERRO_FULL_TRACES", "1 or 0", FLAG, "0");
    /** Names about which the launcher has warned because they are no settings, so that ranks do not repeat the warning. */
    public static final Setting<String> WARNED_NAMES =
            setting("FERRO_WARNED_NAMES", "names with commas between them", TEXT);
    /** File with the job's secret, mode 0600. */
    public static final Setting<String> SECRET_FILE =
            setting("FERRO_SECRET_FILE", "a file that only its owner can read", TEXT);
    /** The conda environment in use. */
    public static final Setting<String> CONDA_PREFIX = setting("CONDA_PREFIX", "an absolute path", TEXT);
    /** The Python environment in use. */
    public static final Setting<String> VIRTUAL_ENV = setting("VIRTUAL_ENV", "an absolute path", TEXT);
    /** The home folder of the user, in which pip may have installed libraries. */
    public static final Setting<String> HOME = setting("HOME", "an absolute path", TEXT);
    /** The folder for temporary files. */
    public static final Setting<String> TMPDIR = setting("TMPDIR", "a folder", TEXT);

    /** The job id is part of the first frame of every connection, whose length is limited. */
    private static final int MOST_JOB_ID_BYTES = 64;

    /** Names that only the build and the scripts use. Ranks do not read these names. */
    private static final Set<String> OF_SCRIPTS = Set.of(
            "ferro.command",
            "ferro.home",
            "ferro.path.java",
            "ferro.quick",
            "ferro.simulation.first",
            "ferro.simulation.seeds",
            "ferro.simulation.traces",
            "FERRO_COMPARE_CLASS_PATH",
            "FERRO_KERNELS_CLASS_PATH");

    private Settings() {}

    private static <T> Setting<T> setting(String name, String need, Function<String, T> parse) {
        return listed(Setting.named(name, need, parse));
    }

    private static <T> Setting<T> setting(String name, String need, Function<String, T> parse, String text) {
        return listed(Setting.named(name, need, parse).withDefault(text));
    }

    private static <T> Setting<T> listed(Setting<T> setting) {
        ALL.add(setting);
        return setting;
    }

    /**
     * Returns all settings, in the order of docs/configuration.md.
     *
     * @return settings
     */
    public static List<Setting<?>> all() {
        return Collections.unmodifiableList(ALL);
    }

    /**
     * Returns names that begin like settings but are not settings. The build and the scripts use these names.
     *
     * @return properties and variables
     */
    public static Set<String> ofScripts() {
        return OF_SCRIPTS;
    }

    /** What a text may be. */
    private enum SettingForm {
        TEXT,
        NAME,
        FOLDER,
        LIBRARY,
        INTEGER,
        COUNT,
        LONG,
        BYTES,
        KEY_BYTES,
        DURATION,
        INTERVAL,
        FLAG,
        PORTS,
        INTERFACES
    }

    /** A parser of one form. All forms share a class: a rank that starts would link a method reference for each form. */
    private record Parser<T>(SettingForm form, Class<T> type) implements Function<String, T> {
        @Override
        public T apply(String text) {
            return type.cast(value(text));
        }

        private Object value(String text) {
            return switch (form) {
                case TEXT -> text;
                case NAME -> jobId(text);
                case FOLDER -> folder(text);
                case LIBRARY -> library(text);
                case INTEGER -> Integer.valueOf(text);
                case COUNT -> Setting.count(text);
                case LONG -> Long.valueOf(text);
                case BYTES -> Setting.bytes(text);
                case KEY_BYTES -> keyBytes(text);
                case DURATION -> Setting.duration(text);
                case INTERVAL -> Setting.interval(text);
                case FLAG -> flag(text);
                case PORTS -> PortRange.of(text);
                case INTERFACES -> InterfaceFilter.of(text);
            };
        }
    }

    /** A parser that accepts only the given words. The exception for another text contains {@code refusal}. */
    private static final class OneOf implements Function<String, String> {
        private final String refusal;
        private final List<String> words;

        OneOf(String refusal, String... words) {
            this.refusal = refusal;
            this.words = List.of(words);
        }

        @Override
        public String apply(String text) {
            if (!words.contains(text)) {
                throw new IllegalArgumentException("\"" + text + "\" " + refusal);
            }
            return text;
        }
    }

    private static String jobId(String text) {
        int bytes = text.getBytes(StandardCharsets.UTF_8).length;
        if (bytes > MOST_JOB_ID_BYTES) {
            throw new IllegalArgumentException(bytes + " bytes in UTF-8");
        }
        return Surrogates.refuseHalves("the name", text);
    }

    /**
     * Parses the size that one key may encrypt. A small size costs handshakes, since a new connection replaces the old
     * one for each key. Source of the maximum: RFC 8446, section 5.5.
     */
    private static long keyBytes(String text) {
        long bytes = Setting.bytes(text);
        if (bytes < 1L << 20 || bytes > 1L << 38) {
            throw new IllegalArgumentException("found " + bytes + " bytes");
        }
        return bytes;
    }

    /** Rejects a relative path, because ranks may have been started in different folders. */
    private static String folder(String text) {
        if (!Path.of(text).isAbsolute()) {
            throw new IllegalArgumentException("\"" + text + "\" is relative");
        }
        return text;
    }

    /** Rejects a relative path, because any user may have written a library into the current directory. */
    private static String library(String text) {
        boolean plain = !text.isEmpty() && text.indexOf('/') < 0;
        if (!plain && !text.startsWith("/")) {
            throw new IllegalArgumentException("the current directory is never searched, found \"" + text + "\"");
        }
        return text;
    }

    private static boolean flag(String text) {
        return !text.isEmpty()
                && !text.equals("0")
                && !text.equalsIgnoreCase("false")
                && !text.equalsIgnoreCase("no")
                && !text.equalsIgnoreCase("off");
    }
}

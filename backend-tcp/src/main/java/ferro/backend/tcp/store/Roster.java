package ferro.backend.tcp.store;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.Store;
import ferro.backend.tcp.net.AddressLookup;
import ferro.backend.tcp.net.TlsPolicy.TlsMode;
import ferro.spi.GroupSpec;
import ferro.spi.Settings;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/**
 * The entries in the store by which the ranks of a group find each other.
 *
 * <p>The key {@code NAME/rank/R} is the slot of a rank. A process claims the slot by compare-and-set. A second process
 * of the same rank is refused, which does not affect the first process. When the rank closes the group, it marks the
 * slot as left. The generation is the number of times that the slot was left; {@code NAME/generation} has the highest
 * generation. All other keys are below {@code NAME/GENERATION/}, so that a group can be joined again under its name.
 * The key {@code size} has the world size of the first rank. The key {@code card/R} has the entry of a rank, with its
 * address. The key {@code failed} has the reason why the group cannot be joined. The key {@code again} names a rank
 * whose process was started again without the other ranks.
 */
public final class Roster {
    private static final String GENERATION = "/generation";
    private static final String FAILED = "failed";
    private static final String AGAIN = "again";
    /**
     * A value that no key ever has. A compare-and-set that expects this value changes nothing and returns the current
     * value.
     */
    private static final byte[] NEVER = "\0never".getBytes(StandardCharsets.US_ASCII);

    private final Store store;
    private final GroupSpec spec;
    private final RankEntry own;
    private final SharedSettings settings;
    private final ReleasedSlots released;
    private int generation = 1;
    private boolean claimed;
    /** The entry of this rank as it was published in the store; null if no entry was published. */
    private byte[] announced;
    /** Whether the slot may belong to this rank, because this rank has requested the slot from the store. */
    private boolean asked;

    /**
     * Creates a roster. Nothing is sent to the store yet.
     *
     * @param store    store that contains the entries
     * @param spec     group and rank
     * @param own      entry of this rank
     * @param settings settings that must be compatible between the ranks
     * @param released slots that the context of this rank has released
     */
    public Roster(Store store, GroupSpec spec, RankEntry own, SharedSettings settings, ReleasedSlots released) {
        this.store = store;
        this.spec = spec;
        this.own = own;
        this.settings = settings;
        this.released = released;
    }

    /**
     * The settings that must be compatible between the ranks of a group.
     *
     * @param checksum whether data links use checksums
     * @param tls      which connections the rank encrypts
     * @param debug    whether the rank has no time limits
     */
    public record SharedSettings(boolean checksum, TlsMode tls, boolean debug) {}

    /**
     * The entry of a rank: its address and its process.
     *
     * @param host     address or name by which other ranks reach the rank
     * @param port     port on which the rank accepts connections
     * @param pid      process id
     * @param instance random number that distinguishes two processes that claim the same slot
     * @param home     machine of the rank
     * @param lacking  why the rank cannot share memory with ranks of its host, in one line; empty if the rank can share
     *     memory
     */
    public record RankEntry(String host, int port, long pid, long instance, PeerHost home, String lacking) {
        private static final int FIELDS = 6;

        /** Returns the entry as text for the store. */
        public String text() {
            return String.join("\n", host, "" + port, "" + pid, Long.toHexString(instance), home.text(), lacking);
        }

        /** Returns the machine and the address of the rank. */
        public String placed() {
            return home.at(host);
        }

        /** Parses the {@link #text} of an entry. */
        public static RankEntry of(String text) {
            String[] lines = text.split("\n", FIELDS);
            return new RankEntry(
                    lines[0],
                    Integer.parseInt(lines[1]),
                    Long.parseLong(lines[2]),
                    Long.parseUnsignedLong(lines[3], 16),
                    PeerHost.parsed(lines[4]),
                    lines[5]);
        }
    }

    /**
     * Claims the slot of this rank. Then agrees with the other ranks on the generation and on the settings that must be
     * equal on all ranks.
     */
    public void claim() {
        asked = true;
        byte[] there = store.compareAndSet(slot(), null, taken());
        // repeats if the store has processed a delayed release of the slot between two requests
        for (Optional<Integer> last = left(there); last.isPresent(); last = left(there)) {
            generation = last.get() + 1;
            there = store.compareAndSet(slot(), there, taken());
        }
        if (!isOwn(there)) {
            asked = false;
            throw duplicate(there);
        }
        claimed = true;
        generation = highest(generation);
        agree();
    }

    /**
     * Returns the highest generation of any rank. A rank that failed to join may have a lower generation than a rank
     * that had joined. If the ranks used different generations, each rank would wait under its own keys and never find
     * the others.
     */
    private int highest(int mine) {
        String key = spec.name() + GENERATION;
        byte[] there = store.compareAndSet(key, null, bytes(Integer.toString(mine)));
        while (Integer.parseInt(text(there)) < mine) {
            there = store.compareAndSet(key, there, bytes(Integer.toString(mine)));
        }
        return Integer.parseInt(text(there));
    }

    private static final String LEFT = "left\n";
    private static final String TAKEN = "taken\n";
    private static final String CHECKSUM = Settings.TCP_CHECKSUM.name();
    private static final String TLS = Settings.TLS.name();
    private static final String DEBUG = Settings.DEBUG.name();

    private String slot() {
        return slot(spec);
    }

    private static String slot(GroupSpec spec) {
        return spec.name() + "/rank/" + spec.rank();
    }

    /** Reads the slot of a rank. Returns the entry of the process that has claimed the slot; empty for a free slot. */
    static Optional<RankEntry> holder(Store store, GroupSpec spec) {
        return holder(store.compareAndSet(slot(spec), NEVER, NEVER));
    }

    private static Optional<RankEntry> holder(byte[] slot) {
        return slot == null || isLeft(slot)
                ? Optional.empty()
                : Optional.of(RankEntry.of(text(slot).substring(TAKEN.length())));
    }

    private byte[] taken() {
        return bytes(TAKEN + own.text());
    }

    /** Returns the last generation of a free slot; empty if a process has the slot. */
    private Optional<Integer> left(byte[] slot) {
        if (isLeft(slot)) {
            return Optional.of(Integer.parseInt(text(slot).substring(LEFT.length())));
        }
        return holder(slot).flatMap(card -> released.lastGeneration(card.instance));
    }

    private static boolean isLeft(byte[] slot) {
        return text(slot).startsWith(LEFT);
    }

    private boolean isOwn(byte[] slot) {
        return slot != null && text(slot).equals(text(taken()));
    }

    private FerroException duplicate(byte[] there) {
        RankEntry other = RankEntry.of(text(there).substring(TAKEN.length()));
        return new FerroException(
                Code.RENDEZVOUS,
                where(),
                "rank " + spec.rank() + " of \"" + spec.name() + "\" has already joined: process " + other.pid + " at "
                        + AddressLookup.text(other.host, other.port) + "; this is process " + own.pid
                        + ": give every process its own rank");
    }

    private void agree() {
        String[] mine = {
            Integer.toString(spec.worldSize()),
            Integer.toString(spec.rank()),
            settings.checksum ? "1" : "0",
            word(settings.tls),
            Boolean.toString(settings.debug)
        };
        String[] first = text(store.compareAndSet(key("size"), null, bytes(String.join(" ", mine))))
                .split(" ", -1);
        compare("world size ", mine[0], first[0], first[1], "WORLD_SIZE");
        compare(CHECKSUM + "=", mine[2], first[2], first[1], CHECKSUM);
        compare(DEBUG + "=", mine[4], first[4], first[1], DEBUG);
        if (neverConnect(settings.tls, first[3])) {
            compare(TLS + "=", mine[3], first[3], first[1], TLS);
        }
    }

    /**
     * Returns whether one of the two ranks encrypts all connections, and the other rank encrypts none. Such ranks can
     * never connect. With other values, it depends on the hosts whether two ranks can connect.
     */
    private static boolean neverConnect(TlsMode own, String first) {
        return own == TlsMode.ON && first.equals(word(TlsMode.OFF))
                || own == TlsMode.OFF && first.equals(word(TlsMode.ON));
    }

    private static String word(TlsMode use) {
        return use.name().toLowerCase(Locale.ROOT);
    }

    private void compare(String what, String mine, String first, String whose, String setting) {
        if (mine.equals(first)) {
            return;
        }
        String text = "rank " + spec.rank() + " of \"" + spec.name() + "\" has " + what + mine + ", rank " + whose
                + " has " + first + ": give all ranks the same " + setting;
        fail(text);
        throw new FerroException(Code.RENDEZVOUS, where(), text);
    }

    /** Publishes the entry of this rank, which contains the rank's address. */
    public void announce() {
        announced = bytes(own.text());
        store.set(card(), announced);
    }

    private String card() {
        return key("card/" + spec.rank());
    }

    /** Returns a stage with the entry of another rank. An empty value means that the rank has failed to join. */
    public CompletionStage<byte[]> card(int rank) {
        return store.when(key("card/" + rank));
    }

    /** Returns whether this object has claimed the slot of its rank. */
    public boolean isClaimed() {
        return claimed;
    }

    /** Publishes to all joining ranks why this group cannot be joined. */
    public void fail(String why) {
        store.set(key(FAILED), bytes(why));
    }

    /** Returns a stage that completes if a rank publishes that this group cannot be joined. */
    public CompletionStage<byte[]> failed() {
        return store.when(key(FAILED));
    }

    /**
     * A rank whose process was started again without the other ranks.
     *
     * @param rank     number of the rank in the group
     * @param instance instance in the entry of the rank's earlier process
     * @param text     description of the event, for a message that begins with the rank
     */
    public record RestartedRank(int rank, long instance, String text) {
        private static final int FIELDS = 3;

        private static RestartedRank of(String value) {
            String[] lines = value.split("\n", FIELDS);
            return new RestartedRank(Integer.parseInt(lines[0]), Long.parseUnsignedLong(lines[1], 16), lines[2]);
        }

        private String value() {
            return rank + "\n" + Long.toHexString(instance) + "\n" + text;
        }
    }

    /**
     * Publishes that a rank was started again while its earlier process still has the slot. As a result, the group
     * ends.
     */
    static void publish(Store store, GroupSpec spec, RestartedRank again) {
        byte[] last = store.compareAndSet(spec.name() + GENERATION, NEVER, NEVER);
        if (last != null) {
            String keys = spec.name() + "/" + text(last) + "/";
            store.set(keys + AGAIN, bytes(again.value()));
            // ranks that are still joining wait for this key
            store.set(keys + FAILED, bytes("rank " + again.rank + " of \"" + spec.name() + "\" " + again.text));
        }
    }

    /** Returns a stage that completes if a rank of this group is started again without the other ranks. */
    public CompletionStage<RestartedRank> startedAgain() {
        return store.when(key(AGAIN)).thenApply(value -> RestartedRank.of(text(value)));
    }

    /** Releases the slot after the end of the group. Does not wait for the store, which may be stopped or gone. */
    public void leave() {
        release(generation);
    }

    /** Releases the slot after a failed join, like {@link #leave}. Ranks can try the same generation again. */
    public void giveUp() {
        release(generation - 1);
    }

    /**
     * Requests the removal of the entry and the release of the slot, without waiting. A request replaces only a value
     * that this object has set. Therefore a request that the store processes late, after the next join of this rank,
     * does no harm. The store processes requests in order, so it releases the slot even if the answer to the claim was
     * too late for this rank.
     */
    private void release(int last) {
        if (!asked) {
            return;
        }
        asked = false;
        released.add(own.instance, last);
        if (announced != null) {
            store.compareAndSetAsync(card(), announced, new byte[0]);
        }
        store.compareAndSetAsync(slot(), taken(), bytes(LEFT + last)).whenComplete((there, gone) -> left(gone));
    }

    private void left(Throwable gone) {
        if (gone == null) {
            released.confirm(own.instance);
        } else {
            System.getLogger("ferro.join")
                    .log(System.Logger.Level.DEBUG, "the store ended before rank " + spec.rank() + " left", gone);
        }
    }

    /** Returns the group's identity on the wire. */
    public long id() {
        try {
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(bytes(spec.name() + "\n" + generation));
            return ByteBuffer.wrap(hash).getLong();
        } catch (NoSuchAlgorithmException missing) {
            throw new IllegalStateException("this Java runtime has no SHA-256", missing);
        }
    }

    private String key(String what) {
        return spec.name() + "/" + generation + "/" + what;
    }

    private Where where() {
        return Where.of(spec.name(), spec.rank());
    }

    /** Returns a value of the store as text. */
    public static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}

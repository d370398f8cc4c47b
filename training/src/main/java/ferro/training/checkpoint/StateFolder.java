package ferro.training.checkpoint;

import ferro.group.SystemContext;
import ferro.job.Surroundings;
import ferro.spi.Settings;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.NoSuchFileException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The folder of a storage in which a job saves its state, under names that no other job has.
 *
 * <p>A job takes the folder before its first save. It is then an owner, such as {@code 4-9f3a12cd}: one more than the greatest number
 * in the folder, and a nonce. The owner writes {@code step-12-4-9f3a12cd/}, and publishes {@code latest-4-9f3a12cd.json}, which names
 * its latest step, its host, its process and its job. The file of the greatest owner counts. An owner begins by publishing what
 * the owner before has published.
 *
 * <p>An owner looks for a greater one before it publishes, and again afterwards. If the second look finds none, each later owner finds
 * what was published. If there is one, the save fails, and the later owner's files are as they were. No owner writes or deletes an
 * object of a later one. So a storage needs neither a call that makes an object only if there is none, nor a rename that keeps an
 * old object: {@link CheckpointStorage#publish} and {@link CheckpointStorage#list} are enough.
 *
 * <p>One rank of a job takes the folder and publishes. It may give {@link #text} to the others, which name the folders of steps
 * alike. One thread at a time may call it.
 */
public final class StateFolder {
    private static final System.Logger LOG = System.getLogger("ferro.training");
    private static final long VERSION = 2;
    private static final String OWNER_FIELD = "owner";
    /** How often a name is read that others publish anew or delete meanwhile; each time another job has saved. */
    private static final int MAX_READS = 100;
    /** What builds before this one have published for ranks inside Spark: folder, step and number of ranks. */
    private static final Pattern PLAIN_TEXT =
            Pattern.compile("(step-[0-9]{1,18}-\\S{10,27}) ([0-9]{1,18}) ([0-9]{1,9})");

    private static final String PLAIN_NONE = "none -1 0";

    private final CheckpointStorage storage;
    private final String host;
    /** The name of this job; null for the one that its launcher gives. */
    private final String job;

    private StateOwner owner;
    /** What is published under the name of the owner; null for nothing. */
    private SavedStep latest;

    /** What a file names: who published it, and the step; null for none. */
    private record Published(StateOwner owner, SavedStep step) {}

    StateFolder(CheckpointStorage storage, String host, String job) {
        this.storage = Objects.requireNonNull(storage, "storage");
        this.host = host;
        this.job = job;
    }

    /**
     * Opens the folder of a storage; nothing is written.
     *
     * @param storage where the state lies
     * @param job the name of this job for messages of other jobs; empty if it is not known
     * @return the folder, which this job has not taken yet
     */
    public static StateFolder in(CheckpointStorage storage, String job) {
        Objects.requireNonNull(job, "job");
        return new StateFolder(storage, Surroundings.ofThisHost().hostName(), job);
    }

    /**
     * Returns the folder that another rank of this job has taken.
     *
     * @param storage where the state lies
     * @param text what {@link #text} returned on that rank
     * @return the folder
     * @throws CheckpointException if the text makes no sense
     */
    public static StateFolder taken(CheckpointStorage storage, String text) {
        Published published = parse("text of another rank", StandardCharsets.UTF_8.encode(text));
        StateFolder folder = in(storage, published.owner().job());
        folder.owner = published.owner();
        folder.latest = published.step();
        return folder;
    }

    CheckpointStorage storage() {
        return storage;
    }

    /**
     * Returns whether this job has taken the folder.
     *
     * @return true after {@link #take}
     */
    public boolean isTaken() {
        return owner != null;
    }

    /**
     * Makes this job the owner of the folder, unless it is already. From then on no earlier owner can save.
     *
     * @throws CheckpointException if what the owner before has published cannot be read
     * @throws IOException if the storage fails
     */
    public void take() throws IOException {
        if (owner != null) {
            return;
        }
        long number = owners(storage)
                        .max(Comparator.naturalOrder())
                        .map(StateOwner::number)
                        .orElse(0L)
                + 1;
        String nonce = HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextInt());
        String now = Instant.now().truncatedTo(ChronoUnit.SECONDS).toString();
        String name = job == null ? jobOfLauncher() : job;
        StateOwner own =
                new StateOwner(number, nonce, host, ProcessHandle.current().pid(), name, now);
        SavedStep found = latestBefore(own);
        storage.publish(published(own), bytes(own, found));
        // an earlier owner may have published since, and deleted what was found; its next save finds this owner
        SavedStep since = latestBefore(own);
        if (!Objects.equals(since, found)) {
            storage.publish(published(own), bytes(own, since));
        }
        latest = since;
        owner = own;
    }

    /** Returns the name of the job as its launcher gives it; empty where it gives none. */
    private static String jobOfLauncher() {
        try (SystemContext process = SystemContext.ofProcess()) {
            return process.setting(Settings.JOB_ID.name()).orElse("");
        } catch (IllegalArgumentException contradiction) {
            LOG.log(Level.DEBUG, () -> "the name of the job is not known: " + contradiction.getMessage());
            return "";
        }
    }

    private static String published(StateOwner owner) {
        return "latest-" + owner.name() + ".json";
    }

    private static byte[] bytes(StateOwner owner, SavedStep latest) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("format", CheckpointManifest.FORMAT);
        fields.put("version", VERSION);
        if (latest != null) {
            fields.putAll(latest.fields());
        }
        fields.put(OWNER_FIELD, owner.fields());
        return StrictJson.write(fields).getBytes(StandardCharsets.UTF_8);
    }

    private static Published parse(String source, ByteBuffer bytes) {
        if (source.endsWith(".txt")) {
            return plainText(source, StandardCharsets.UTF_8.decode(bytes).toString());
        }
        JsonValues fields = StrictJson.read(source, bytes);
        CheckpointManifest.refuseOther(fields, VERSION);
        StateOwner owner =
                fields.fields().containsKey(OWNER_FIELD) ? StateOwner.of(fields.object(OWNER_FIELD)) : StateOwner.NONE;
        return new Published(owner, fields.fields().containsKey("step") ? SavedStep.of(fields) : null);
    }

    private static Published plainText(String source, String text) {
        StateOwner owner = StateOwner.ofPublished(source).orElseThrow();
        Matcher parts = PLAIN_TEXT.matcher(text);
        if (text.equals(PLAIN_NONE)) {
            return new Published(owner, null);
        }
        if (!parts.matches() || ObjectNames.stepOf(parts.group(1) + "/") != Long.parseLong(parts.group(2))) {
            throw new CheckpointException(
                    source + ": need folder, step and number of ranks, found \"" + Text.shortened(text) + "\"");
        }
        return new Published(
                owner,
                new SavedStep(parts.group(1), Long.parseLong(parts.group(2)), Integer.parseInt(parts.group(3)), 0));
    }

    /** Returns the owners whose files are there. */
    private static Stream<StateOwner> owners(CheckpointStorage storage) throws IOException {
        return files(storage).map(name -> StateOwner.ofPublished(name).orElseThrow());
    }

    private static Stream<String> files(CheckpointStorage storage) throws IOException {
        return storage.list("latest-").stream()
                .map(StoredObject::name)
                .filter(name -> name.endsWith(".json") || name.endsWith(".txt"))
                .filter(name -> StateOwner.ofPublished(name).isPresent());
    }

    private SavedStep latestBefore(StateOwner own) throws IOException {
        return greatest(storage, one -> one.isBefore(own)).map(Published::step).orElse(null);
    }

    /** Reads what the greatest of some owners has published; without owners what a build before them has. */
    private static Optional<Published> greatest(CheckpointStorage storage, Predicate<StateOwner> among)
            throws IOException {
        ObjectReader reader = new ObjectReader(storage);
        for (int read = 1; ; read++) {
            Optional<String> file = greatestFile(storage, among);
            String name = file.orElse(ObjectNames.LATEST);
            ByteBuffer bytes = reader.published(name);
            if (bytes != null) {
                return Optional.of(parse(name, bytes));
            }
            if (file.isEmpty()) {
                return Optional.empty();
            }
            // a later owner has deleted it since it was listed
            if (read == MAX_READS) {
                throw new NoSuchFileException(name + " in " + storage);
            }
        }
    }

    private static Optional<String> greatestFile(CheckpointStorage storage, Predicate<StateOwner> among)
            throws IOException {
        return files(storage)
                .filter(name -> among.test(StateOwner.ofPublished(name).orElseThrow()))
                .max(Comparator.comparing(name -> StateOwner.ofPublished(name).orElseThrow()));
    }

    /** Reads which step is the latest, whichever job has saved it. */
    static Optional<SavedStep> latestIn(CheckpointStorage storage) throws IOException {
        return greatest(storage, any -> true).map(Published::step);
    }

    /**
     * Returns the latest step: the one that this job has published last, or the one that it found when it took the folder.
     *
     * @return step; empty if there was none
     */
    public Optional<SavedStep> latest() {
        return Optional.ofNullable(latest);
    }

    /**
     * Returns who owns the folder and what is the latest step, for the other ranks of this job.
     *
     * @return text for {@link #taken}
     */
    public String text() {
        return new String(bytes(owner, latest), StandardCharsets.UTF_8);
    }

    /**
     * Returns the folder of a step that this job saves.
     *
     * @param step from 0 on
     * @return a name without a slash
     */
    public String ofStep(long step) {
        return ObjectNames.folder(step) + "-" + owner.name();
    }

    /** Returns whether an object is of this owner, or of an earlier one. */
    boolean mayDelete(String state) {
        return !owner.isBefore(StateOwner.ofState(state));
    }

    /**
     * Refuses to save once a later job has taken the folder. Does nothing before this job has taken it.
     *
     * @throws CheckpointException that names the later job
     * @throws IOException if the storage fails
     */
    public void refuseIfLost() throws IOException {
        if (owner == null) {
            return;
        }
        Optional<StateOwner> last =
                owners(storage).max(Comparator.naturalOrder()).filter(owner::isBefore);
        if (last.isPresent()) {
            throw new CheckpointException(owner + " cannot save in " + storage + ": " + described(last.get())
                    + " saves there now; name a folder for each job");
        }
    }

    /** Returns an owner as its file describes it. */
    private StateOwner described(StateOwner one) throws IOException {
        try {
            return greatest(storage, each -> each.compareTo(one) >= 0)
                    .map(Published::owner)
                    .orElse(one);
        } catch (CheckpointException unreadable) {
            LOG.log(Level.DEBUG, () -> "cannot read who " + one + " is: " + unreadable.getMessage());
            return one;
        }
    }

    /**
     * Refuses to save as {@link #refuseIfLost()} does, after a failure that the later job may have caused: it deletes parts of this
     * job. Does nothing if the storage cannot say.
     */
    void refuseIfLost(Throwable failure) {
        try {
            refuseIfLost();
        } catch (CheckpointException lost) {
            lost.addSuppressed(failure);
            throw lost;
        } catch (IOException | RuntimeException | Error unknown) {
            if (unknown != failure) {
                failure.addSuppressed(unknown);
            }
        }
    }

    /**
     * Publishes a step as the latest one.
     *
     * @param step a step whose objects are written
     * @throws CheckpointException if a later job has taken the folder, by its name; that job may have found this step
     * @throws IOException if the storage fails
     */
    public void publish(SavedStep step) throws IOException {
        refuseIfLost();
        try {
            storage.publish(published(owner), bytes(owner, Objects.requireNonNull(step, "step")));
        } catch (IOException | RuntimeException failure) {
            refuseIfLost(failure);
            throw failure;
        }
        refuseIfLost();
        latest = step;
    }

    /**
     * Copies what the greatest owner has published to {@code latest.json}, for people and other programs. Jobs read the copy only where
     * no owner is, so that a failure is only logged.
     */
    void copyForOthers() {
        try {
            ObjectReader reader = new ObjectReader(storage);
            ByteBuffer copied = null;
            for (int copy = 1; copy <= MAX_READS; copy++) {
                ByteBuffer now =
                        reader.published(greatestFile(storage, any -> true).orElse(ObjectNames.LATEST));
                if (now != null && now.equals(copied)) {
                    return;
                }
                if (now != null) {
                    byte[] bytes = new byte[now.remaining()];
                    now.duplicate().get(bytes);
                    storage.publish(ObjectNames.LATEST, bytes);
                    copied = now;
                }
            }
        } catch (IOException | RuntimeException failure) {
            LOG.log(
                    Level.WARNING,
                    () -> "cannot write " + ObjectNames.LATEST + " in " + storage
                            + ", which the next save tries again: " + Text.of(failure));
        }
    }

    /**
     * Deletes what earlier owners have left: files that they have published, temporary ones, and some objects in folders of steps.
     *
     * @param wanted which objects in folders of steps are deleted, of those that earlier owners wrote
     * @throws IOException if the storage fails
     * @throws UnsupportedOperationException if the storage deletes nothing
     */
    public void deleteEarlier(Predicate<String> wanted) throws IOException {
        deleteEarlier(storage.list(""), wanted);
    }

    void deleteEarlier(List<StoredObject> listed, Predicate<String> wanted) throws IOException {
        for (StoredObject object : listed) {
            String name = object.name();
            boolean isState = ObjectNames.stepOf(name) >= 0;
            boolean isLeft = isState
                    ? StateOwner.ofState(name).isBefore(owner) && wanted.test(name)
                    : isPublishedByEarlier(name);
            if (isLeft) {
                storage.delete(name);
            }
        }
    }

    private boolean isPublishedByEarlier(String name) {
        boolean isTemporary = name.startsWith(ObjectNames.LATEST + ".");
        return isTemporary
                || StateOwner.ofPublished(name)
                        .filter(one -> one.isBefore(owner))
                        .isPresent();
    }
}

package ferro.training.checkpoint;

import ferro.group.SystemContext;
import ferro.job.HostFacts;
import ferro.spi.PlainLoggers;
import ferro.spi.Settings;
import ferro.training.checkpoint.StateFolderOwner.OwnerNumber;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.NoSuchFileException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The folder of a storage in which a job saves its state. Each job uses names that no other job uses.
 *
 * <p>A job becomes an owner of the folder before its first save. The name of an owner, such as {@code 4-9f3a12cd} or
 * {@code 4.1-9f3a12cd}, consists of an attempt, a generation other than 0, and a nonce. The attempt is one more than
 * the greatest attempt in the folder. The generation counts how often the job had been started again. The owner writes
 * objects into {@code step-12-4-9f3a12cd/} and publishes {@code latest-4-9f3a12cd.json}. The published file contains
 * the latest step, the host, the process and the job of the owner. A new owner first publishes the latest step of the
 * previous owner. The file of the greatest owner determines the latest step of the folder.
 *
 * <p>An owner lists the owners before and after each publication. If the list after a publication contains no later
 * owner, each later owner finds the published step. If the list after a publication contains a later owner, the save
 * fails, and the files of the later owner are unchanged. No owner writes or deletes an object of a later owner. So a
 * storage needs neither an operation that creates an object only if the object does not exist, nor a rename that never
 * replaces an object. {@link CheckpointStorage#publish} and {@link CheckpointStorage#list} are enough.
 *
 * <p>If a later generation has become an owner since this job opened the folder, this job can no longer become an
 * owner, and can no longer save.
 *
 * <p>Only one rank of a job calls {@link #take} and {@link #publish}. The rank that calls {@link #take} can send
 * {@link #text} to the other ranks, so that all ranks use the same folder names. Only one thread at a time may call the
 * methods.
 */
public final class StateFolder {
    private static final System.Logger LOG = PlainLoggers.logger("ferro.training");
    private static final long VERSION = 2;
    private static final String OWNER_FIELD = "owner";
    /** Largest number of reads of a published file, which another job may replace or delete during a read. */
    private static final int MAX_READS = 100;

    private static final long POLL_NANOS = Duration.ofMillis(50).toNanos();

    private final CheckpointStorage storage;
    private final String host;
    /** The name of this job; null if this job uses the name from the launcher. */
    private final String job;

    private final int generation;

    /** The owners that the folder had when this job opened it; null on ranks that do not call {@link #take}. */
    private Set<StateFolderOwner> opened;

    private StateFolderOwner owner;
    /** The step that this owner has published; null if this owner has published no step. */
    private SavedStep latest;

    /**
     * The content of a published file. The content is the owner and the latest step of the owner. The step is null if
     * the owner has no latest step.
     */
    private record PublishedStep(StateFolderOwner owner, SavedStep step) {}

    StateFolder(CheckpointStorage storage, String host, String job, int generation) {
        this.storage = Objects.requireNonNull(storage, "storage");
        this.host = host;
        this.job = job;
        this.generation = generation;
    }

    /**
     * Opens the folder of a storage. The call writes nothing. After this call, all ranks must make a call that needs
     * all ranks, such as a barrier, before one rank calls {@link #take}. Because of the call of all ranks, an earlier
     * generation cannot mistake an owner of a later generation for an owner from before this call.
     *
     * @param storage    the storage of the state
     * @param job        the name of this job, which appears in messages of other jobs; empty if the name is not known
     * @param generation how often this job has been started again ({@link ferro.group.ProcessGroup#generation()})
     * @return the folder; this job is not yet its owner
     * @throws IllegalArgumentException if the generation is negative
     * @throws IOException if the storage fails
     */
    public static StateFolder in(CheckpointStorage storage, String job, int generation) throws IOException {
        Objects.requireNonNull(job, "job");
        if (generation < 0) {
            throw new IllegalArgumentException("need a generation of 0 or more, found " + generation);
        }
        StateFolder folder = new StateFolder(storage, HostFacts.ofThisHost().hostName(), job, generation);
        folder.open();
        return folder;
    }

    /**
     * {@return the folder of this job on a rank that has not called {@link #take}, after another rank has called
     * {@link #take}}
     *
     * @param storage the storage of the state
     * @param text    the text that {@link #text} returned on the other rank
     * @throws CheckpointException if the text is invalid
     */
    public static StateFolder taken(CheckpointStorage storage, String text) {
        PublishedStep published = parse("text of another rank", StandardCharsets.UTF_8.encode(text));
        StateFolderOwner owner = published.owner();
        StateFolder folder = new StateFolder(
                storage, owner.host(), owner.job(), owner.number().generation());
        folder.owner = owner;
        folder.latest = published.step();
        return folder;
    }

    /** Lists the owners that the folder has before this job. Only the first call lists the owners. */
    void open() throws IOException {
        if (opened == null) {
            opened = owners(storage).collect(Collectors.toSet());
        }
    }

    CheckpointStorage storage() {
        return storage;
    }

    /** {@return whether this job has become an owner of the folder, true after {@link #take}} */
    public boolean isTaken() {
        return owner != null;
    }

    /**
     * Makes this job the owner of the folder. The call does nothing if this job already is an owner. After this call,
     * earlier owners can no longer save.
     *
     * @throws CheckpointException if the published file of the previous owner cannot be read, or if a later generation
     *     has become an owner since this job opened the folder
     * @throws IOException if the storage fails
     */
    public void take() throws IOException {
        if (owner != null) {
            return;
        }
        refuseIfLost();
        long attempt =
                owners(storage).mapToLong(one -> one.number().attempt()).max().orElse(0L) + 1;
        String nonce = HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextInt());
        String now = Instant.now().truncatedTo(ChronoUnit.SECONDS).toString();
        String name = job == null ? jobOfLauncher() : job;
        StateFolderOwner own = new StateFolderOwner(
                new OwnerNumber(attempt, generation),
                nonce,
                host,
                ProcessHandle.current().pid(),
                name,
                now);
        SavedStep found = latestBefore(own);
        storage.publish(published(own), bytes(own, found));
        // since the search, an earlier owner may have published a step and deleted the found step; the earlier owner
        // cannot publish once more, because its next save finds this owner
        SavedStep since = latestBefore(own);
        if (!Objects.equals(since, found)) {
            storage.publish(published(own), bytes(own, since));
        }
        latest = since;
        owner = own;
    }

    /** Returns the name of the job that the launcher gives; empty if the launcher gives no name. */
    private static String jobOfLauncher() {
        try (SystemContext process = SystemContext.ofProcess()) {
            return process.setting(Settings.JOB_ID.name()).orElse("");
        } catch (IllegalArgumentException contradiction) {
            LOG.log(Level.DEBUG, () -> "the name of the job is not known: " + contradiction.getMessage());
            return "";
        }
    }

    private static String published(StateFolderOwner owner) {
        return "latest-" + owner.name() + ".json";
    }

    private static byte[] bytes(StateFolderOwner owner, SavedStep latest) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("format", CheckpointManifest.FORMAT);
        fields.put("version", VERSION);
        if (latest != null) {
            fields.putAll(latest.fields());
        }
        fields.put(OWNER_FIELD, owner.fields());
        return JsonCodec.text(fields).getBytes(StandardCharsets.UTF_8);
    }

    private static PublishedStep parse(String source, ByteBuffer bytes) {
        if (source.endsWith(".txt")) {
            String text = StandardCharsets.UTF_8.decode(bytes).toString();
            return new PublishedStep(
                    StateFolderOwner.ofPublished(source).orElseThrow(), SavedStep.ofPlainText(source, text));
        }
        JsonObjectFields fields = JsonCodec.read(source, bytes);
        CheckpointManifest.refuseOther(fields, VERSION);
        StateFolderOwner owner = fields.fields().containsKey(OWNER_FIELD)
                ? StateFolderOwner.of(fields.object(OWNER_FIELD))
                : StateFolderOwner.NONE;
        return new PublishedStep(owner, fields.fields().containsKey("step") ? SavedStep.of(fields) : null);
    }

    /** Returns the owners that have a published file in the storage. */
    private static Stream<StateFolderOwner> owners(CheckpointStorage storage) throws IOException {
        return files(storage).map(name -> StateFolderOwner.ofPublished(name).orElseThrow());
    }

    private static Stream<String> files(CheckpointStorage storage) throws IOException {
        return storage.list("latest-").stream()
                .map(StoredObject::name)
                .filter(name -> name.endsWith(".json") || name.endsWith(".txt"))
                .filter(name -> StateFolderOwner.ofPublished(name).isPresent());
    }

    private SavedStep latestBefore(StateFolderOwner own) throws IOException {
        return greatest(storage, one -> one.isBefore(own))
                .map(PublishedStep::step)
                .orElse(null);
    }

    /**
     * Reads the file of the greatest of the matching owners. If no owner matches, reads {@code latest.json}, which
     * builds without owners have published.
     */
    private static Optional<PublishedStep> greatest(CheckpointStorage storage, Predicate<StateFolderOwner> among)
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
            // a later owner has deleted the file after it was listed
            if (read == MAX_READS) {
                throw new NoSuchFileException(name + " in " + storage);
            }
        }
    }

    private static Optional<String> greatestFile(CheckpointStorage storage, Predicate<StateFolderOwner> among)
            throws IOException {
        return files(storage)
                .filter(name -> among.test(StateFolderOwner.ofPublished(name).orElseThrow()))
                .max(Comparator.comparing(
                        name -> StateFolderOwner.ofPublished(name).orElseThrow()));
    }

    /**
     * Reads the latest step of the folder. Any job may have saved the step. The owner of the folder does not change.
     *
     * @param storage the storage of the folder
     * @return the step; empty if no step exists
     * @throws CheckpointException if a published file cannot be read
     * @throws IOException if the storage fails
     */
    public static Optional<SavedStep> latestIn(CheckpointStorage storage) throws IOException {
        return greatest(storage, any -> true).map(PublishedStep::step);
    }

    /**
     * {@return the last step that this job has published or, if this job has published no step, the latest step when
     * the job became the owner; empty if no step existed}
     */
    public Optional<SavedStep> latest() {
        return Optional.ofNullable(latest);
    }

    /** {@return a text for {@link #taken} on the job's other ranks, which contains the owner and the latest step} */
    public String text() {
        return new String(bytes(owner, latest), StandardCharsets.UTF_8);
    }

    /**
     * {@return the name, without a slash, of the folder in which this job saves a step}
     *
     * @param step the step; 0 or more
     */
    public String ofStep(long step) {
        return ObjectNames.folder(step) + "-" + owner.name();
    }

    /** Returns whether an object in a step folder belongs to this owner or an earlier owner. */
    boolean mayDelete(String state) {
        return !owner.isBefore(StateFolderOwner.ofState(state));
    }

    /**
     * Throws an exception if a later job has become the owner of the folder. If this job has not been an owner, only a
     * later generation that has become an owner since this job opened the folder counts as a later job.
     *
     * @throws CheckpointException if a later job has become the owner; the message names the later job
     * @throws IOException if the storage fails
     */
    public void refuseIfLost() throws IOException {
        Optional<StateFolderOwner> last = owners(storage).filter(this::isLater).max(Comparator.naturalOrder());
        if (last.isPresent()) {
            boolean isOver = last.get().number().generation() > generation;
            throw new CheckpointException((owner == null ? "generation " + generation + " of this job" : owner)
                    + " cannot save in " + storage
                    + ": " + described(last.get()) + " saves there now"
                    + (isOver ? "; generation " + generation + " is over" : "; use a separate folder for each job"));
        }
    }

    /** Returns whether an owner has become the owner after this job, or belongs to a later generation than this job. */
    private boolean isLater(StateFolderOwner one) {
        boolean isNew = opened != null && !opened.contains(one);
        return owner != null && owner.isBefore(one) || isNew && one.number().generation() > generation;
    }

    /**
     * Returns an owner with host, process and job from the file of the owner. If a still later owner has appeared,
     * returns the still later owner. If the file cannot be read, returns the given owner.
     */
    private StateFolderOwner described(StateFolderOwner one) throws IOException {
        try {
            return greatest(storage, each -> each.compareTo(one) >= 0)
                    .map(PublishedStep::owner)
                    .orElse(one);
        } catch (CheckpointException unreadable) {
            LOG.log(Level.DEBUG, () -> "cannot read host and job of " + one + ": " + unreadable.getMessage());
            return one;
        }
    }

    /**
     * Throws the same exception as {@link #refuseIfLost()}, after another failure. A later job may have caused the
     * failure, because it deletes unfinished saves of this job. If the storage fails, this method only adds the failure
     * of the storage to {@code failure} as suppressed.
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
     * Waits until this rank can read what other ranks have written in a step folder. A network file system may show new
     * objects late.
     *
     * @param step       the name of the step folder
     * @param limit      how long to wait
     * @param difference returns what this rank cannot read yet; empty if this rank can read everything
     * @return what this rank could not read within the limit; empty if this rank can read everything
     * @throws CheckpointException if a later job has become the owner of the folder
     * @throws IOException if the storage fails
     */
    public String awaitSeen(String step, Duration limit, Supplier<String> difference) throws IOException {
        long begun = System.nanoTime();
        String unseen = difference.get();
        while (!unseen.isEmpty() && System.nanoTime() - begun < limit.toNanos()) {
            refuseIfLost();
            LockSupport.parkNanos(POLL_NANOS);
            // if the folder is opened, an NFS client requests the entries from the server again
            storage.list(step + "/");
            unseen = difference.get();
        }
        return unseen;
    }

    /**
     * Publishes a step as the latest step.
     *
     * @param step the step; all its objects must have been written
     * @throws CheckpointException if a later job has become the owner of the folder; the message names the later job.
     *     The later job may nevertheless have found this step
     * @throws IOException if the storage fails
     */
    public void publish(SavedStep step) throws IOException {
        publish(step, () -> {});
    }

    /** Publishes a step. If the publication fails and no job finds the step, runs {@code unpublished}. */
    void publish(SavedStep step, Runnable unpublished) throws IOException {
        Objects.requireNonNull(step, "step");
        try {
            refuseIfLost();
        } catch (IOException | RuntimeException failure) {
            unpublished.run();
            throw failure;
        }
        try {
            storage.publish(published(owner), bytes(owner, step));
        } catch (IOException | RuntimeException failure) {
            if (failure instanceof CheckpointStorage.NotPublishedException) {
                unpublished.run();
            }
            refuseIfLost(failure);
            throw failure;
        }
        refuseIfLost();
        latest = step;
    }

    /**
     * Copies the file of the greatest owner to {@code latest.json}, for people and other programs. The method logs a
     * failure instead of throwing an exception, because jobs read the copy only if the folder has no owner.
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
                    () -> "cannot write " + ObjectNames.LATEST + " in " + storage + ", and the next save tries again: "
                            + MessageFormatter.of(failure));
        }
    }

    /**
     * Deletes objects of earlier owners. The deleted objects are published files, temporary files, and the chosen
     * objects in step folders.
     *
     * @param wanted predicate that chooses the objects in step folders that are deleted; called only with the names of
     *     objects that earlier owners wrote
     * @throws IOException if the storage fails
     * @throws UnsupportedOperationException if the storage does not support deletion
     */
    public void deleteEarlier(Predicate<String> wanted) throws IOException {
        deleteEarlier(storage.list(""), wanted);
    }

    void deleteEarlier(List<StoredObject> listed, Predicate<String> wanted) throws IOException {
        for (StoredObject object : listed) {
            String name = object.name();
            boolean isLeft = ObjectNames.stepOf(name) >= 0
                    ? StateFolderOwner.ofState(name).isBefore(owner) && wanted.test(name)
                    : isPublishedByEarlier(name);
            if (isLeft) {
                storage.delete(name);
            }
        }
    }

    private boolean isPublishedByEarlier(String name) {
        return name.startsWith(ObjectNames.LATEST + ".")
                || StateFolderOwner.ofPublished(name)
                        .filter(one -> one.isBefore(owner))
                        .isPresent();
    }
}

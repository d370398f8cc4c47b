package ferro.spark.state;

import ferro.group.Codec;
import ferro.group.ProcessGroup;
import ferro.spark.rank.RestoredState;
import ferro.training.checkpoint.CheckpointException;
import ferro.training.checkpoint.CheckpointSettings;
import ferro.training.checkpoint.CheckpointStorage;
import ferro.training.checkpoint.SavedStep;
import ferro.training.checkpoint.StateFolder;
import ferro.training.checkpoint.StoredObject;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.zip.CRC32C;
import org.apache.spark.SparkEnv;

/**
 * The saved state of one rank of a job. The storage has one object per rank and step. One more object names the latest
 * step that all ranks have written.
 *
 * <p>A state object consists of a checksum of 8 bytes and the state. Each attempt is an owner of the
 * {@link StateFolder}. An attempt becomes the owner when it saves for the first time.
 *
 * <p>An attempt may still run after Spark has given it up. An attempt that Spark has given up overwrites no object of a
 * later attempt. An attempt can no longer save after a later attempt has become the owner.
 */
public final class RankStateStore {
    /** The pattern of the names of state objects. Other objects in the folder are not deleted. */
    private static final String STATE = "[^/]+/rank-[0-9]+";
    /** The most reads in a restore. A restore reads again only after another job has published a newer state. */
    private static final int MAX_READS = 100;

    private final CheckpointStorage storage;
    private final ProcessGroup group;
    private final Duration visibleWithin;
    private StateFolder folder;
    private long newest = -1;
    /** The folder of the latest step; null if no such step is known. */
    private String kept;

    /** The folder of the step before the latest step; null if no such step is known. */
    private String before;

    private boolean hasSaved;

    /** Creates the state of a rank. */
    public RankStateStore(CheckpointStorage storage, ProcessGroup group) {
        this(storage, group, CheckpointSettings.DEFAULT.visibleWithin());
    }

    /** Creates the state of a rank. Rank 0 waits for this time until it sees what the other ranks have written. */
    RankStateStore(CheckpointStorage storage, ProcessGroup group, Duration visibleWithin) {
        this.storage = storage;
        this.group = group;
        this.visibleWithin = visibleWithin;
    }

    /** Saves the state of this rank. All ranks must call this method with the same step. */
    public void save(long step, byte[] state) throws IOException {
        if (step <= newest) {
            throw new IllegalArgumentException("rank " + group.rank() + " cannot save step " + step + " after step "
                    + newest + ": step numbers must increase");
        }
        begin();
        String name = folder.ofStep(step);
        write(object(name), state);
        long[] lengths = new long[group.worldSize()];
        group.allGather(new long[] {Long.BYTES + state.length}, lengths);
        if (group.rank() == 0) {
            awaitSeen(name, lengths);
            publish(SavedStep.of(name, step, group.worldSize()));
        }
        // no rank deletes the older state before rank 0 has published the newer state
        group.barrier();
        if (before != null) {
            storage.delete(object(before));
        }
        before = kept;
        kept = name;
        hasSaved = true;
        newest = step;
    }

    /** Waits until rank 0 sees the states of all ranks. Throws an exception if it does not see them in time. */
    private void awaitSeen(String step, long[] lengths) throws IOException {
        try {
            String unseen = folder.awaitSeen(step, visibleWithin, () -> unseen(step, lengths));
            if (!unseen.isEmpty()) {
                throw new IOException("rank 0 does not see the states of all ranks: is " + storage
                        + " a folder that all executors share? (" + unseen + ")");
            }
        } catch (CheckpointException refused) {
            throw new IOException(refused.getMessage(), refused);
        }
    }

    private String unseen(String step, long[] lengths) {
        try {
            Set<StoredObject> seen = Set.copyOf(storage.list(step + "/"));
            for (int rank = 0; rank < lengths.length; rank++) {
                String name = step + "/rank-" + rank;
                if (!seen.contains(new StoredObject(name, lengths[rank]))) {
                    return name + " with " + lengths[rank] + " bytes is missing";
                }
            }
            return "";
        } catch (IOException unlisted) {
            return step + " cannot be listed: " + unlisted;
        }
    }

    private void publish(SavedStep step) throws IOException {
        try {
            folder.publish(step);
        } catch (CheckpointException refused) {
            throw new IOException(refused.getMessage(), refused);
        }
        if (!hasSaved) {
            folder.deleteEarlier(object -> object.matches(STATE) && !(kept != null && object.startsWith(kept + "/")));
        }
    }

    private static long step(String object) {
        return Long.parseLong(object.split("[-/]")[1]);
    }

    /** Writes the state of this rank. If that fails, deletes the object, as rank 0 then does not publish the state. */
    private void write(String name, byte[] state) throws IOException {
        try {
            writeObject(name, state);
        } catch (IOException failure) {
            try {
                storage.delete(name);
            } catch (IOException stays) {
                failure.addSuppressed(stays);
            }
            throw failure;
        }
    }

    private void writeObject(String name, byte[] state) throws IOException {
        CRC32C sum = new CRC32C();
        sum.update(state);
        storage.write(name, to -> {
            ByteBuffer head = ByteBuffer.allocate(Long.BYTES).putLong(0, sum.getValue());
            for (ByteBuffer part : new ByteBuffer[] {head, ByteBuffer.wrap(state)}) {
                while (part.hasRemaining()) {
                    to.write(part);
                }
            }
        });
    }

    /**
     * Returns the latest state of this rank. All ranks must call this method, and all ranks get the state of the same
     * step. The attempt does not become the owner. If another job deletes the state during the read, the ranks read the
     * newer state.
     */
    public Optional<RestoredState> restore() throws IOException {
        if (kept != null) {
            return Optional.of(new RestoredState(newest, read(object(kept))));
        }
        Optional<SavedStep> latest = latest();
        for (int reads = 1; latest.isPresent(); reads++) {
            checkWorldSize(latest.get());
            try {
                byte[] state = readOnAllRanks(latest.get().folder());
                newest = latest.get().step();
                kept = latest.get().folder();
                return Optional.of(new RestoredState(newest, state));
            } catch (IOException failure) {
                Optional<SavedStep> now = latest();
                if (now.equals(latest) || reads == MAX_READS) {
                    throw failure;
                }
                latest = now;
            }
        }
        return Optional.empty();
    }

    /** Reads the state of this rank. If one rank cannot read its state, all ranks throw an exception. */
    private byte[] readOnAllRanks(String step) throws IOException {
        byte[] state = null;
        IOException failure = null;
        try {
            state = read(object(step));
        } catch (IOException unreadable) {
            failure = unreadable;
        }
        List<String> failures = group.objects(Codec.utf8()).allGather(failure == null ? "" : failure.toString());
        for (int rank = 0; rank < failures.size() && failure == null; rank++) {
            if (!failures.get(rank).isEmpty()) {
                failure = new IOException("rank " + rank + " cannot read its state: " + failures.get(rank));
            }
        }
        if (failure != null) {
            throw failure;
        }
        return state;
    }

    private void checkWorldSize(SavedStep latest) throws IOException {
        if (latest.worldSize() != group.worldSize()) {
            throw new IOException(latest.worldSize() + " ranks saved the state in " + storage + ", but this job has "
                    + group.worldSize() + " ranks: run the job with .ranks(" + latest.worldSize()
                    + "), or use another folder");
        }
    }

    /** Returns the latest step that rank 0 finds. All ranks must call this method. */
    private Optional<SavedStep> latest() throws IOException {
        String found = "";
        if (group.rank() == 0) {
            try {
                found = StateFolder.latestIn(storage)
                        .map(one -> one.folder() + " " + one.step() + " " + one.worldSize())
                        .orElse("");
            } catch (CheckpointException unreadable) {
                throw new IOException(unreadable.getMessage(), unreadable);
            }
        }
        String text = group.objects(Codec.utf8()).broadcast(found, 0);
        if (text.isEmpty()) {
            return Optional.empty();
        }
        String[] parts = text.split(" ");
        return Optional.of(SavedStep.of(parts[0], Long.parseLong(parts[1]), Integer.parseInt(parts[2])));
    }

    /** Makes this attempt the owner of the folder. All ranks must call this method. Only the first call has an effect. */
    private void begin() throws IOException {
        if (folder != null) {
            return;
        }
        StateFolder own = group.rank() == 0 ? opened() : null;
        // ranks of an attempt that Spark has given up fail at this barrier, so they do not become the owner
        group.barrier();
        String text = "";
        if (own != null) {
            take(own);
            text = own.text();
        }
        folder = StateFolder.taken(storage, group.objects(Codec.utf8()).broadcast(text, 0));
    }

    private StateFolder opened() throws IOException {
        SparkEnv spark = SparkEnv.get();
        return StateFolder.in(storage, spark == null ? "" : spark.conf().getAppId(), group.generation());
    }

    private static void take(StateFolder own) throws IOException {
        try {
            own.take();
        } catch (CheckpointException unreadable) {
            throw new IOException(unreadable.getMessage(), unreadable);
        }
        // failed saves have left objects of later steps, which use space that the next save may need
        long latest = own.latest().map(SavedStep::step).orElse(-1L);
        own.deleteEarlier(object -> object.matches(STATE) && step(object) > latest);
    }

    private byte[] read(String name) throws IOException {
        long length = storage.list(name).stream()
                .filter(object -> object.name().equals(name))
                .findFirst()
                .map(StoredObject::bytes)
                .orElseThrow(() -> new NoSuchFileException(name + " in " + storage));
        ByteBuffer all = ByteBuffer.allocate(Math.toIntExact(length));
        storage.read(name, 0, all);
        all.flip();
        CRC32C sum = new CRC32C();
        long stored = all.remaining() < Long.BYTES ? -1 : all.getLong();
        byte[] state = new byte[all.remaining()];
        all.get(state);
        sum.update(state);
        if (stored != sum.getValue()) {
            throw new IOException(name + " in " + storage + " is damaged: its stored checksum is " + stored
                    + ", but its " + state.length + " bytes have the checksum " + sum.getValue());
        }
        return state;
    }

    private String object(String of) {
        return of + "/rank-" + group.rank();
    }
}

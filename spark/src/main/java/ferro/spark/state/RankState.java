package ferro.spark.state;

import ferro.group.Codec;
import ferro.group.ProcessGroup;
import ferro.spark.rank.RestoredState;
import ferro.training.checkpoint.CheckpointException;
import ferro.training.checkpoint.CheckpointStorage;
import ferro.training.checkpoint.SavedStep;
import ferro.training.checkpoint.StateFolder;
import ferro.training.checkpoint.StoredObject;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.util.Optional;
import java.util.zip.CRC32C;
import org.apache.spark.SparkEnv;

/**
 * State of the ranks of a job: an object per rank and step, and one that names the latest step that all ranks have written.
 *
 * <p>An object of state is a checksum of eight bytes, then the state. Each attempt is an owner of the
 * {@link StateFolder}, and takes it when it restores or saves first: an attempt that Spark has given up and that still runs
 * overwrites nothing of a later one, and cannot save any more once the later one has begun.
 */
public final class RankState {
    /** Names of objects of state; other objects in the folder are not deleted. */
    private static final String STATE = "[^/]+/rank-[0-9]+";

    private final CheckpointStorage storage;
    private final ProcessGroup group;
    private StateFolder folder;
    private long newest = -1;
    /** Names of folders; null for none. */
    private String kept;

    private String before;
    private boolean hasSaved;

    /** Makes the state of a rank. */
    public RankState(CheckpointStorage storage, ProcessGroup group) {
        this.storage = storage;
        this.group = group;
    }

    /** Saves the state of this rank; all ranks call it. */
    public void save(long step, byte[] state) throws IOException {
        if (step <= newest) {
            throw new IllegalArgumentException(
                    "rank " + group.rank() + " saves step " + step + " after step " + newest + ": steps must grow");
        }
        begin();
        String name = folder.ofStep(step);
        write(object(name), state);
        group.barrier();
        if (group.rank() == 0) {
            publish(new SavedStep(name, step, group.worldSize(), 0));
        }
        // nobody deletes the older state before the newer one is published
        group.barrier();
        if (before != null) {
            storage.delete(object(before));
        }
        before = kept;
        kept = name;
        hasSaved = true;
        newest = step;
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

    private void write(String name, byte[] state) throws IOException {
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

    /** Returns the latest state of this rank; all ranks call it, and get that of one step. */
    public Optional<RestoredState> restore() throws IOException {
        begin();
        if (kept == null) {
            if (folder.latest().isEmpty()) {
                return Optional.empty();
            }
            SavedStep latest = folder.latest().get();
            if (latest.worldSize() != group.worldSize()) {
                throw new IOException("the state in " + storage + " is of " + latest.worldSize() + " ranks, found "
                        + group.worldSize() + ": run it with .ranks(" + latest.worldSize()
                        + "), or name another folder");
            }
            newest = latest.step();
            kept = latest.folder();
        }
        return Optional.of(new RestoredState(newest, read(object(kept))));
    }

    /** Takes a name for this attempt, and learns what the one before has published; all ranks call it. */
    private void begin() throws IOException {
        if (folder != null) {
            return;
        }
        // ranks that Spark has given up miss each other here, and take no name
        group.barrier();
        String told = "";
        if (group.rank() == 0) {
            told = taken().text();
        }
        folder = StateFolder.taken(storage, group.objects(Codec.utf8()).broadcast(told, 0));
    }

    private StateFolder taken() throws IOException {
        SparkEnv spark = SparkEnv.get();
        StateFolder own =
                StateFolder.in(storage, spark == null ? "" : spark.conf().getAppId());
        try {
            own.take();
        } catch (CheckpointException unreadable) {
            throw new IOException(unreadable.getMessage(), unreadable);
        }
        return own;
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
        long told = all.remaining() < Long.BYTES ? -1 : all.getLong();
        byte[] state = new byte[all.remaining()];
        all.get(state);
        sum.update(state);
        if (told != sum.getValue()) {
            throw new IOException(name + " in " + storage + " is damaged: its checksum is " + told + ", its "
                    + state.length + " bytes have " + sum.getValue());
        }
        return state;
    }

    private String object(String of) {
        return of + "/rank-" + group.rank();
    }
}

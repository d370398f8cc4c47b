package ferro.spark.state;

import ferro.group.Codec;
import ferro.group.ProcessGroup;
import ferro.spark.rank.RestoredState;
import ferro.training.checkpoint.CheckpointStorage;
import ferro.training.checkpoint.StoredObject;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.util.Optional;
import java.util.zip.CRC32C;

/**
 * State of the ranks of a job: an object per rank and step, and one that names the latest step that all ranks have written.
 *
 * <p>An object of state is a checksum of eight bytes, then the state. Names of objects hold the attempt that wrote them
 * ({@link StateFolder}), so that an attempt that Spark has given up and that still runs overwrites nothing of a later one. It
 * cannot save any more once the later one has begun.
 */
public final class RankState {
    private final CheckpointStorage storage;
    private final ProcessGroup group;
    private StateFolder folder;
    private Latest latest;
    private long newest = -1;
    /** Names of folders; null for none. */
    private String kept;

    private String before;

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
            folder.checkLast();
            folder.publish(new Latest(name, step, group.worldSize()));
            if (!folder.wrote(kept)) {
                folder.deleteOlder(kept);
            }
        }
        // nobody deletes the older state before the newer one is published
        group.barrier();
        if (before != null) {
            storage.delete(object(before));
        }
        before = kept;
        kept = name;
        newest = step;
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
            if (latest.isNone()) {
                return Optional.empty();
            }
            if (latest.ranks() != group.worldSize()) {
                throw new IOException("the state in " + storage + " is of " + latest.ranks() + " ranks, found "
                        + group.worldSize() + ": run it with .ranks(" + latest.ranks() + "), or name another folder");
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
            StateFolder own = StateFolder.claimed(storage);
            told = own.attempt() + " " + own.latest().text();
        }
        String[] parts = group.objects(Codec.utf8()).broadcast(told, 0).split(" ", 2);
        latest = Latest.of(parts[1], storage);
        folder = StateFolder.of(storage, parts[0], latest);
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

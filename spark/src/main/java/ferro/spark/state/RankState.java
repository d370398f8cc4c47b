package ferro.spark.state;

import ferro.group.ProcessGroup;
import ferro.spark.rank.RestoredState;
import ferro.training.checkpoint.CheckpointStorage;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.NoSuchFileException;
import java.util.Optional;
import java.util.zip.CRC32C;

/**
 * State of the ranks of a job: an object per rank and step, and one that names the latest step that all ranks have written.
 *
 * <p>{@code latest.txt} is {@code step ranks}; {@code step-12/rank-3} is a checksum of eight bytes, then the state.
 */
public final class RankState {
    private static final String LATEST = "latest.txt";
    private static final int MOST_LATEST = 64;

    private final CheckpointStorage storage;
    private final ProcessGroup group;
    private long newest = -1;
    private long before = -1;

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
        CRC32C sum = new CRC32C();
        sum.update(state);
        storage.write(name(step), to -> {
            ByteBuffer head = ByteBuffer.allocate(Long.BYTES).putLong(0, sum.getValue());
            for (ByteBuffer part : new ByteBuffer[] {head, ByteBuffer.wrap(state)}) {
                while (part.hasRemaining()) {
                    to.write(part);
                }
            }
        });
        group.barrier();
        if (group.rank() == 0) {
            storage.publish(LATEST, (step + " " + group.worldSize()).getBytes(StandardCharsets.US_ASCII));
        }
        // nobody deletes the older state before the newer one is published
        group.barrier();
        if (before >= 0) {
            storage.delete(name(before));
        }
        before = newest;
        newest = step;
    }

    /** Returns the latest state of this rank; all ranks call it, and get that of one step. */
    public Optional<RestoredState> restore() throws IOException {
        long[] latest = {-1, group.worldSize()};
        if (group.rank() == 0) {
            readLatest(latest);
        }
        group.broadcast(latest, 0);
        if (latest[0] < 0) {
            return Optional.empty();
        }
        if (latest[1] != group.worldSize()) {
            throw new IOException("the state in " + storage + " is of " + latest[1] + " ranks, found "
                    + group.worldSize() + ": run it with .ranks(" + latest[1] + "), or name another folder");
        }
        newest = latest[0];
        return Optional.of(new RestoredState(newest, read(name(newest))));
    }

    private void readLatest(long[] latest) throws IOException {
        ByteBuffer text = ByteBuffer.allocate(MOST_LATEST);
        try {
            storage.read(LATEST, 0, text);
        } catch (NoSuchFileException none) {
            return;
        }
        String found = new String(text.array(), 0, text.position(), StandardCharsets.US_ASCII);
        if (!found.matches("[0-9]{1,18} [0-9]{1,9}")) {
            throw new IOException(
                    LATEST + " in " + storage + " is damaged: \"" + found + "\" is no step and number of ranks");
        }
        String[] parts = found.split(" ");
        latest[0] = Long.parseLong(parts[0]);
        latest[1] = Long.parseLong(parts[1]);
    }

    private byte[] read(String name) throws IOException {
        long length = storage.list(name).stream()
                .filter(object -> object.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new NoSuchFileException(name + " in " + storage))
                .bytes();
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

    private String name(long step) {
        return "step-" + step + "/rank-" + group.rank();
    }
}

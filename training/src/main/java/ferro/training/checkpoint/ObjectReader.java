package ferro.training.checkpoint;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.zip.CRC32C;

/** A reader for the objects of a storage. The reader reads small objects completely, and large objects in blocks. */
final class ObjectReader {
    /** The limit for the size of an object that is read completely into memory. */
    private static final int MAX_BYTES = 100_000_000;

    private static final int FIRST_BYTES = 1 << 16;

    private final CheckpointStorage storage;

    ObjectReader(CheckpointStorage storage) {
        this.storage = storage;
    }

    /**
     * Reads a published object. Returns null if the object does not exist. Reads the object in one call, so that the
     * result is consistent if a job publishes new content during the read.
     */
    ByteBuffer published(String name) {
        ByteBuffer bytes = ByteBuffer.allocate(FIRST_BYTES);
        try {
            storage.read(name, 0, bytes);
        } catch (NoSuchFileException missing) {
            return null;
        } catch (IOException failure) {
            throw unreadable(name, failure);
        }
        return bytes.flip();
    }

    /** Reads a small object completely. If the read fails, the exception message contains the name. */
    ByteBuffer small(String name) {
        try {
            ByteBuffer bytes = ByteBuffer.allocate(FIRST_BYTES);
            while (storage.read(name, bytes.position(), bytes) > 0) {
                if (bytes.position() >= MAX_BYTES) {
                    throw new CheckpointException(name + " in " + storage + " has " + bytes.position()
                            + " bytes or more, need less than " + MAX_BYTES + " bytes");
                }
                if (!bytes.hasRemaining()) {
                    bytes = ByteBuffer.allocate(2 * bytes.capacity()).put(bytes.flip());
                }
            }
            return bytes.flip();
        } catch (IOException failure) {
            throw unreadable(name, failure);
        }
    }

    void fill(String name, long offset, ByteBuffer into) {
        try {
            int wanted = into.remaining();
            int taken = 0;
            while (into.hasRemaining()) {
                int read = storage.read(name, offset + taken, into);
                if (read <= 0) {
                    throw new CheckpointException(name + " in " + storage + " ends at byte " + (offset + taken)
                            + ", need at least " + (offset + wanted) + " bytes");
                }
                taken += read;
            }
        } catch (IOException failure) {
            throw unreadable(name, failure);
        }
    }

    /** Returns the lengths of the objects in a folder, by file name. */
    Map<String, Long> lengths(String folder) {
        String prefix = folder + "/";
        try {
            Map<String, Long> lengths = new HashMap<>();
            storage.list(prefix)
                    .forEach(object -> lengths.put(object.name().substring(prefix.length()), object.bytes()));
            return lengths;
        } catch (IOException failure) {
            throw new CheckpointException(
                    "cannot list " + prefix + " in " + storage + ": " + MessageFormatter.of(failure), failure);
        }
    }

    private CheckpointException unreadable(String name, IOException failure) {
        return new CheckpointException(
                failure instanceof NoSuchFileException
                        ? name + " in " + storage + " is missing"
                        : "cannot read " + name + " in " + storage + ": " + MessageFormatter.of(failure),
                failure);
    }

    /**
     * Reads a file of a checkpoint, and returns how its content differs from the length and checksum in the manifest.
     * Returns an empty text if the content matches.
     */
    String difference(String folder, ManifestEntry part) {
        String name = folder + "/" + part.file();
        CRC32C checksum = new CRC32C();
        ByteBuffer buffer = ElementCodec.buffer(part.bytes());
        long at = 0;
        try {
            while (storage.read(name, at, buffer.clear()) > 0) {
                at += buffer.flip().remaining();
                checksum.update(buffer);
            }
        } catch (NoSuchFileException missing) {
            return name + " is missing";
        } catch (IOException failure) {
            return name + " cannot be read: " + MessageFormatter.of(failure);
        }
        if (at != part.bytes()) {
            return name + " has " + at + " bytes, need " + part.bytes();
        }
        return checksum.getValue() == part.checksum()
                ? ""
                : name + " has checksum " + hex(checksum.getValue()) + ", need " + hex(part.checksum());
    }

    static String hex(long checksum) {
        return String.format(Locale.ROOT, "%08x", checksum);
    }
}

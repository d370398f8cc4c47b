package ferro.training.checkpoint;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;
import java.util.List;

/**
 * A storage of named objects that all ranks share. Checkpoints consist of named objects. An implementation needs four
 * methods: {@link #write}, {@link #read}, {@link #list} and {@link #publish}. {@link LocalStorage} implements the
 * interface for local file systems and NFS.
 *
 * <p>A name has one or two parts with a slash between them. A part consists of letters, digits, dots, hyphens and
 * underscores. Examples are {@code latest.json} and {@code step-12/checkpoint.json}. Messages contain the text that
 * {@code toString} returns, so {@code toString} should name the location of the storage.
 *
 * <p>All ranks write at the same time, and each rank writes different objects. Only one rank publishes objects. Jobs
 * that share a storage write and publish objects with different names ({@link StateFolder}). Only the name
 * {@code latest.json} is shared. Each job publishes the object {@code latest.json}, as a copy for people and other
 * programs. So a storage needs no operation that creates an object only if the object does not exist. A storage needs
 * two guarantees:
 * <ul>
 * <li>{@link #publish} is atomic. {@link LocalStorage} renames a temporary file over the old file. The storage of the
 * Spark module renames files of HDFS in the same way. Object stores replace an object atomically.
 * <li>After {@link #publish} has returned, each later {@link #list} on every host contains the name, and {@link #read}
 * returns the content. File systems of one host, HDFS and S3 guarantee that a published object is visible. NFS
 * guarantees this visibility to a client that has just renamed a file in the same folder. If a storage lists an object
 * late, two jobs may save without noticing each other. Two jobs that save without noticing each other do not damage
 * each other's checkpoints.
 * </ul>
 *
 * <p>A save or a load fails if a storage makes no progress within the deadline
 * ({@link CheckpointSettings#withDeadline}). Each call of the storage is progress. Each block that {@link #write} takes
 * from its content is progress too. If {@link #write} stores a large object only after it has taken the last block,
 * storing the object must take less time than the deadline.
 */
public interface CheckpointStorage {
    /** The bytes of an object. */
    @FunctionalInterface
    interface ObjectContent {
        /**
         * Writes all bytes of the object.
         *
         * @param to the channel to which the bytes are written in order
         * @throws IOException if the channel cannot be written
         */
        void writeTo(WritableByteChannel to) throws IOException;
    }

    /**
     * A failure of {@link CheckpointStorage#publish} after which the object keeps its old content. A save that fails
     * with this exception deletes its files. If a storage cannot determine which content the object has, the storage
     * throws another {@link IOException}.
     */
    final class NotPublishedException extends IOException {
        private static final long serialVersionUID = 1;

        /**
         * Creates the exception.
         *
         * @param failure the reason, such as a full disk
         */
        public NotPublishedException(IOException failure) {
            super(failure.getMessage(), failure);
        }
    }

    /**
     * Writes a new object. When the method returns, the object survives a crash of the machine. If an unfinished save
     * has left an object with this name, the method replaces that object.
     *
     * @param name    the name of the object
     * @param content the bytes of the object
     * @throws IOException if the object cannot be written; part of the object may then exist
     */
    void write(String name, ObjectContent content) throws IOException;

    /**
     * Reads bytes of an object.
     *
     * @param name   the name of the object
     * @param offset the offset of the first byte in the object
     * @param into   the buffer that takes the bytes; the buffer is filled unless the object ends earlier
     * @return the number of bytes read; 0 if the offset is at or after the end of the object
     * @throws java.nio.file.NoSuchFileException if no object has this name
     * @throws IOException if the object cannot be read
     */
    int read(String name, long offset, ByteBuffer into) throws IOException;

    /**
     * Lists objects. The list contains objects that other ranks have already written.
     *
     * @param prefix the prefix of the names to list; empty for all objects
     * @return the objects in any order
     * @throws IOException if the objects cannot be listed
     */
    List<StoredObject> list(String prefix) throws IOException;

    /**
     * Creates or replaces an object atomically. A reader gets either the complete old content or the complete new
     * content at any time, even after a crash. When the method returns, the new content survives a crash of the
     * machine. If the implementation uses a temporary object, each call must use a different temporary name.
     *
     * @param name    the name of the object
     * @param content the new bytes of the object
     * @throws NotPublishedException if the object cannot be published and keeps its old content; the failed save then
     *     deletes its files
     * @throws IOException if the object cannot be published; the object may then have the old or the new content, and
     *     the files of the failed save stay
     */
    void publish(String name, byte[] content) throws IOException;

    /**
     * Deletes an object, or does nothing if the object does not exist. Deletion is needed only for
     * {@link CheckpointSettings#keepLast}, and to delete files of earlier jobs and failed saves. A storage that does
     * not implement this method keeps all checkpoints.
     *
     * @param name the name of the object
     * @throws IOException if the object cannot be deleted
     * @throws UnsupportedOperationException if this storage does not support deletion, which is the default
     */
    default void delete(String name) throws IOException {
        throw new UnsupportedOperationException("cannot delete " + name + ": " + this + " does not support deletion");
    }
}

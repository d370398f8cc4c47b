package ferro.training.checkpoint;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;
import java.util.List;

/**
 * Where checkpoints lie: objects with names, which all ranks see. Four calls have to be written; {@link LocalStorage} has them for
 * local file systems and NFS.
 *
 * <p>A name is one or two parts of letters, digits, dots, hyphens and underscores with a slash between: {@code latest.json},
 * {@code step-12/checkpoint.json}. What {@code toString} returns stands in messages; it says where the storage is.
 *
 * <p>All ranks write at once, each other objects. One rank alone publishes. Jobs that share a storage write and publish objects of
 * different names ({@link StateFolder}); {@code latest.json} alone is published by each of them, as a copy for people and other
 * programs. So a storage needs no call that makes an object only if there is none. It needs these two:
 * <ul>
 * <li>{@link #publish} is atomic. {@link LocalStorage} renames a temporary file over the old one, and so does the storage of the Spark
 * module on HDFS. Object stores put an object as a whole.
 * <li>What {@link #publish} has published before stands in each later {@link #list}, on every host, and {@link #read} returns it. File
 * systems of one host, NFS behind a rename of the same client, HDFS and S3 keep this. A storage that lists late would let two jobs
 * save that do not see each other; neither would damage the other's checkpoints.
 * </ul>
 */
public interface CheckpointStorage {
    /** The bytes of an object. */
    @FunctionalInterface
    interface ObjectContent {
        /**
         * Writes all bytes.
         *
         * @param to takes them, in order
         * @throws IOException if they cannot be taken
         */
        void writeTo(WritableByteChannel to) throws IOException;
    }

    /**
     * Writes a new object. When it returns, the object survives a crash of the machine. An object of this name that a save left
     * unfinished is replaced.
     *
     * @param name its name
     * @param content its bytes
     * @throws IOException if it cannot be written; then part of it may be there
     */
    void write(String name, ObjectContent content) throws IOException;

    /**
     * Reads bytes of an object.
     *
     * @param name its name
     * @param offset the first byte
     * @param into takes as many bytes as it has room for, if the object has as many
     * @return how many bytes it took; 0 at the end of the object and behind it
     * @throws java.nio.file.NoSuchFileException if there is no such object
     * @throws IOException if it cannot be read
     */
    int read(String name, long offset, ByteBuffer into) throws IOException;

    /**
     * Lists objects. What other ranks have written before is in it.
     *
     * @param prefix how their names begin; empty for all
     * @return objects in any order
     * @throws IOException if they cannot be listed
     */
    List<StoredObject> list(String prefix) throws IOException;

    /**
     * Gives a name new content, atomically. A reader that reads the name at any time, also after a crash, reads all of the old content
     * or all of the new. When it returns, the new content survives a crash of the machine. A temporary object, if there is one, has a
     * name of this call alone.
     *
     * @param name its name
     * @param content its bytes
     * @throws IOException if it cannot be published; then the name may have either content
     */
    void publish(String name, byte[] content) throws IOException;

    /**
     * Deletes an object, or does nothing where there is none. Only {@link CheckpointSettings#keepLast} and what earlier jobs and
     * failed saves have left need it; a storage without it keeps all checkpoints.
     *
     * @param name its name
     * @throws IOException if it cannot be deleted
     * @throws UnsupportedOperationException if this storage deletes nothing, as by default
     */
    default void delete(String name) throws IOException {
        throw new UnsupportedOperationException(this + " deletes nothing, such as " + name);
    }
}

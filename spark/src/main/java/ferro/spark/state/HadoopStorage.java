package ferro.spark.state;

import ferro.spark.internals.SparkApiAccess;
import ferro.training.checkpoint.CheckpointStorage;
import ferro.training.checkpoint.StoredObject;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.WritableByteChannel;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileContext;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Options.CreateOpts;
import org.apache.hadoop.fs.Options.Rename;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;

/**
 * A checkpoint storage in a folder of a Hadoop file system. An object is published by {@code FileContext.rename} with
 * {@code OVERWRITE}.
 *
 * <p>HDFS renames a file atomically. Object stores that rename by copying, such as s3a, do not rename atomically: use a
 * folder of HDFS, or implement your own {@link CheckpointStorage}.
 */
public final class HadoopStorage implements CheckpointStorage {
    private static final String TEMPORARY = ".tmp";

    private final FileContext files;
    private final Path root;

    private HadoopStorage(FileContext files, Path root) {
        this.files = files;
        this.root = root;
    }

    /** Opens a folder with the Hadoop settings of the running application. Creates the folder if it does not exist. */
    public static HadoopStorage at(String folder) throws IOException {
        return at(folder, SparkApiAccess.hadoop());
    }

    static HadoopStorage at(String folder, Configuration conf) throws IOException {
        Path root = new Path(folder);
        URI uri = root.toUri();
        FileContext files =
                uri.getScheme() == null ? FileContext.getFileContext(conf) : FileContext.getFileContext(uri, conf);
        Path qualified = files.makeQualified(root);
        files.mkdir(qualified, null, true);
        return new HadoopStorage(files, qualified);
    }

    @Override
    public void write(String name, ObjectContent content) throws IOException {
        Path to = path(name);
        EnumSet<CreateFlag> flags = EnumSet.of(CreateFlag.CREATE, CreateFlag.OVERWRITE);
        try (FSDataOutputStream out = files.create(to, flags, CreateOpts.createParent());
                WritableByteChannel channel = Channels.newChannel(out)) {
            content.writeTo(channel);
            out.hsync();
        }
    }

    @Override
    public int read(String name, long offset, ByteBuffer into) throws IOException {
        try (FSDataInputStream in = files.open(path(name))) {
            in.seek(Math.min(offset, files.getFileStatus(path(name)).getLen()));
            byte[] bytes = new byte[into.remaining()];
            int read = in.readNBytes(bytes, 0, bytes.length);
            into.put(bytes, 0, read);
            return read;
        } catch (FileNotFoundException none) {
            throw missing(name, none);
        }
    }

    private NoSuchFileException missing(String name, FileNotFoundException none) {
        NoSuchFileException missing = new NoSuchFileException(path(name).toString());
        missing.initCause(none);
        return missing;
    }

    @Override
    public List<StoredObject> list(String prefix) throws IOException {
        Objects.requireNonNull(prefix, "prefix");
        List<StoredObject> found = new ArrayList<>();
        int slash = prefix.indexOf('/');
        if (slash >= 0) {
            add(prefix.substring(0, slash), prefix, found);
            return found;
        }
        for (FileStatus one : entries(root)) {
            String name = one.getPath().getName();
            if (!name.startsWith(prefix)) {
                continue;
            }
            if (one.isDirectory()) {
                add(name, prefix, found);
            } else {
                found.add(new StoredObject(name, one.getLen()));
            }
        }
        return found;
    }

    private void add(String folder, String prefix, List<StoredObject> found) throws IOException {
        for (FileStatus one : entries(new Path(root, folder))) {
            String name = folder + "/" + one.getPath().getName();
            if (one.isFile() && name.startsWith(prefix)) {
                found.add(new StoredObject(name, one.getLen()));
            }
        }
    }

    private List<FileStatus> entries(Path folder) throws IOException {
        List<FileStatus> all = new ArrayList<>();
        try {
            for (RemoteIterator<FileStatus> each = files.listStatus(folder); each.hasNext(); ) {
                FileStatus one = each.next();
                // Hadoop's local file system keeps checksums in hidden files
                if (!one.getPath().getName().startsWith(".")) {
                    all.add(one);
                }
            }
        } catch (FileNotFoundException none) {
            return List.of();
        }
        return all;
    }

    @Override
    public void publish(String name, byte[] content) throws IOException {
        // the nonce makes the temporary name unique: another job may publish the same name at the same time
        String nonce = HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextInt());
        String temporary = name + "." + nonce + TEMPORARY;
        try {
            write(temporary, to -> to.write(ByteBuffer.wrap(content)));
        } catch (IOException failure) {
            deleteAfter(failure, temporary);
            throw new NotPublishedException(failure);
        }
        try {
            files.rename(path(temporary), path(name), Rename.OVERWRITE);
        } catch (IOException failure) {
            deleteAfter(failure, temporary);
            throw failure;
        }
    }

    /**
     * Deletes the temporary file of a failed call. If this method cannot delete the file, the file stays until another
     * job saves in the folder.
     */
    private void deleteAfter(IOException failure, String temporary) {
        try {
            delete(temporary);
        } catch (IOException stays) {
            failure.addSuppressed(stays);
        }
    }

    @Override
    public void delete(String name) throws IOException {
        try {
            files.delete(path(name), false);
        } catch (FileNotFoundException none) {
            // no object has this name, so the method deletes nothing
        }
        int slash = name.indexOf('/');
        if (slash >= 0) {
            deleteIfEmpty(name.substring(0, slash));
        }
    }

    /** Deletes a folder if it is empty. Each file system throws a different exception for a non-empty folder. */
    private void deleteIfEmpty(String folder) {
        try {
            files.delete(path(folder), false);
        } catch (IOException more) {
            // the folder has more objects (deleting the last object deletes the folder), or another rank has deleted
            // the folder
            return;
        }
    }

    private Path path(String name) {
        return new Path(root, name);
    }

    @Override
    public String toString() {
        return root.toString();
    }
}

package ferro.training.checkpoint;

import static java.nio.file.StandardCopyOption.ATOMIC_MOVE;
import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.TRUNCATE_EXISTING;
import static java.nio.file.StandardOpenOption.WRITE;

import ferro.spi.PlainLoggers;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * A checkpoint storage in a folder of a local file system, or of a network file system (NFS) that all ranks mount.
 *
 * <p>An object is published by an atomic rename over the old file. File systems that rename by copying are not
 * supported, and the exception names the file system. A file is forced to disk before its folder is forced. The folder
 * is forced to disk before anything is published. Any thread may call the methods.
 */
public final class LocalStorage implements CheckpointStorage {
    private static final System.Logger LOG = PlainLoggers.logger("ferro.training");
    private static final String TEMPORARY = ".tmp";

    private final Path root;
    /**
     * A listener that gets a description of each file system call before the call. In the listener, tests simulate a
     * crash.
     */
    private final Consumer<String> beforeCall;

    LocalStorage(Path root, Consumer<String> beforeCall) {
        this.root = root;
        this.beforeCall = beforeCall;
    }

    /**
     * Opens a folder. Creates the folder if it does not exist. If an existing folder cannot be written, a warning is
     * logged, and checkpoints in the folder can still be loaded. For example, a folder on a read-only mount or a full
     * disk cannot be written.
     *
     * @param folder the folder; all ranks must pass the same folder
     * @return the storage
     * @throws CheckpointException if the folder cannot be created, or if its file system does not rename atomically;
     *     the message then names the file system
     */
    public static LocalStorage at(Path folder) {
        return at(folder, call -> {});
    }

    /** Opens a folder. Calls the listener before each call of the file system. */
    static LocalStorage at(Path folder, Consumer<String> beforeCall) {
        Path root = Objects.requireNonNull(folder, "folder").toAbsolutePath().normalize();
        LocalStorage storage = new LocalStorage(root, beforeCall);
        try {
            storage.makeFolder(root);
            FileSystemCheck.refuseWithoutAtomicRename(
                    root, Files.getFileStore(root).type());
            String problem = Files.isWritable(root) ? tryPublishing(root) : "read-only for this process";
            if (!problem.isEmpty()) {
                LOG.log(
                        Level.WARNING,
                        "cannot write to {0} ({1}): checkpoints in this folder can be loaded but not saved",
                        root,
                        problem);
            }
        } catch (IOException failure) {
            throw new CheckpointException(
                    "cannot store checkpoints in " + root + ": " + MessageFormatter.of(failure), failure);
        }
        return storage;
    }

    /**
     * Publishes a test file. Returns why the folder cannot be written, such as a full disk; empty if it can be written.
     */
    private static String tryPublishing(Path root) throws IOException {
        Path target = root.resolve(".ferro-" + UUID.randomUUID());
        Path fresh = target.resolveSibling(target.getFileName() + TEMPORARY);
        try {
            Files.write(target, new byte[] {1});
            Files.write(fresh, new byte[] {2});
            Files.move(fresh, target, ATOMIC_MOVE);
            return "";
        } catch (AtomicMoveNotSupportedException | UnsupportedOperationException refused) {
            throw FileSystemCheck.refusal(root, Files.getFileStore(root).type(), "it does not support ATOMIC_MOVE");
        } catch (IOException failure) {
            return MessageFormatter.of(failure);
        } finally {
            Files.deleteIfExists(fresh);
            Files.deleteIfExists(target);
        }
    }

    private Path path(String name) {
        return root.resolve(ObjectNames.checkObject(name));
    }

    @Override
    public void write(String name, ObjectContent content) throws IOException {
        Path file = path(name);
        makeFolder(file.getParent());
        writeAndForce(file, content);
        forceFolder(file.getParent());
    }

    /**
     * Creates a folder and its missing parent folders, from the outermost to the innermost. After each creation the
     * parent folder is forced to disk.
     */
    private void makeFolder(Path folder) throws IOException {
        if (!Files.isDirectory(folder)) {
            if (folder.getParent() != null) {
                makeFolder(folder.getParent());
            }
            beforeCall.accept("make " + folder.getFileName());
            Files.createDirectories(folder);
            forceFolder(folder.getParent());
        }
    }

    private void writeAndForce(Path file, ObjectContent content) throws IOException {
        beforeCall.accept("open " + file.getFileName());
        try (FileChannel channel = FileChannel.open(file, CREATE, TRUNCATE_EXISTING, WRITE)) {
            beforeCall.accept("write " + file.getFileName());
            content.writeTo(new ForcingChannel(channel));
            beforeCall.accept("force " + file.getFileName());
            channel.force(true);
        }
    }

    /**
     * A channel to a file. After each 64 MiB, the file is forced to disk, so that a large file makes progress while it
     * is written. Forcing the complete file to disk could take minutes.
     */
    private record ForcingChannel(FileChannel file) implements WritableByteChannel {
        private static final long STEP_BYTES = 64L << 20;

        @Override
        public int write(ByteBuffer bytes) throws IOException {
            long steps = file.position() / STEP_BYTES;
            int written = file.write(bytes);
            if (file.position() / STEP_BYTES > steps) {
                file.force(false);
            }
            return written;
        }

        @Override
        public boolean isOpen() {
            return file.isOpen();
        }

        @Override
        public void close() throws IOException {
            file.close();
        }
    }

    /** Forces a folder to disk. Does nothing on Windows, where a program can neither open nor force a folder. */
    private void forceFolder(Path folder) throws IOException {
        if (folder.getFileSystem().supportedFileAttributeViews().contains("posix")) {
            beforeCall.accept("force folder " + folder.getFileName());
            try (FileChannel channel = FileChannel.open(folder, READ)) {
                channel.force(true);
            }
        }
    }

    @Override
    public int read(String name, long offset, ByteBuffer into) throws IOException {
        int taken = 0;
        try (FileChannel channel = FileChannel.open(path(name), READ)) {
            while (into.hasRemaining()) {
                int read = channel.read(into, offset + taken);
                if (read < 0) {
                    break;
                }
                taken += read;
            }
        }
        return taken;
    }

    @Override
    public List<StoredObject> list(String prefix) throws IOException {
        Objects.requireNonNull(prefix, "prefix");
        int slash = prefix.indexOf('/');
        List<StoredObject> found = new ArrayList<>();
        addFiles(slash < 0 ? root : path(prefix.substring(0, slash)), found, slash < 0 ? prefix : null);
        found.removeIf(object -> !object.name().startsWith(prefix) || !ObjectNames.isObject(object.name()));
        return found;
    }

    /**
     * Adds the files whose names begin with the prefix, and all files in folders whose names begin with the prefix. If
     * the prefix is null, adds all files of this folder, but no files of its folders.
     */
    private void addFiles(Path folder, List<StoredObject> found, String prefix) throws IOException {
        List<Path> entries;
        try (Stream<Path> listed = Files.list(folder)) {
            entries = listed.filter(entry ->
                            prefix == null || entry.getFileName().toString().startsWith(prefix))
                    .toList();
        } catch (NoSuchFileException none) {
            return;
        }
        for (Path entry : entries) {
            if (prefix != null && Files.isDirectory(entry)) {
                addFiles(entry, found, null);
            } else if (Files.isRegularFile(entry)) {
                addFile(entry, found);
            }
        }
    }

    private void addFile(Path file, List<StoredObject> found) throws IOException {
        try {
            String name = root.relativize(file)
                    .toString()
                    .replace(file.getFileSystem().getSeparator(), "/");
            found.add(new StoredObject(name, Files.size(file)));
        } catch (NoSuchFileException deleted) {
            // another rank has deleted the file after it was listed
            return;
        }
    }

    @Override
    public void publish(String name, byte[] content) throws IOException {
        Path file = path(name);
        // the nonce makes the temporary name unique: another job may publish the same name at the same time
        String nonce = HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextInt());
        Path fresh = file.resolveSibling(file.getFileName() + "." + nonce + TEMPORARY);
        try {
            writeAndForce(fresh, channel -> {
                ByteBuffer bytes = ByteBuffer.wrap(content);
                while (bytes.hasRemaining()) {
                    channel.write(bytes);
                }
            });
        } catch (IOException failure) {
            deleteAfter(failure, fresh);
            throw new NotPublishedException(failure);
        }
        try {
            beforeCall.accept("rename " + fresh.getFileName());
            Files.move(fresh, file, ATOMIC_MOVE);
        } catch (IOException failure) {
            deleteAfter(failure, fresh);
            throw failure;
        }
        forceFolder(file.getParent());
    }

    /**
     * Deletes the temporary file of a failed call. A temporary file that cannot be deleted stays until another job
     * saves in the folder.
     */
    private static void deleteAfter(IOException failure, Path fresh) {
        try {
            Files.deleteIfExists(fresh);
        } catch (IOException stays) {
            failure.addSuppressed(stays);
        }
    }

    /** Deletes a file. If the folder of the file is then empty, deletes the folder too. */
    @Override
    public void delete(String name) throws IOException {
        Path file = path(name);
        beforeCall.accept("delete " + file.getFileName());
        Files.deleteIfExists(file);
        if (!file.getParent().equals(root)) {
            try {
                Files.deleteIfExists(file.getParent());
            } catch (DirectoryNotEmptyException more) {
                // the folder has more files; deleting the last file deletes the folder
                return;
            }
        }
    }

    /** {@return the absolute path of the folder, which messages contain} */
    @Override
    public String toString() {
        return root.toString();
    }
}

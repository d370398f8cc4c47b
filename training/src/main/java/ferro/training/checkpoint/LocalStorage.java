package ferro.training.checkpoint;

import static java.nio.file.StandardCopyOption.ATOMIC_MOVE;
import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.TRUNCATE_EXISTING;
import static java.nio.file.StandardOpenOption.WRITE;

import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
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
 * Checkpoints in a folder of a local file system, or of an NFS that all ranks mount.
 *
 * <p>Publishing is a rename over the old file, which must be atomic: file systems that copy instead are refused by name. A file is
 * forced to disk before its folder is, and the folder before anything is published. Any thread may call it.
 */
public final class LocalStorage implements CheckpointStorage {
    private static final System.Logger LOG = System.getLogger("ferro.training");
    private static final String TEMPORARY = ".tmp";

    private final Path root;
    /** Is told each call of the file system before it is made; tests crash there. */
    private final Consumer<String> beforeCall;

    LocalStorage(Path root, Consumer<String> beforeCall) {
        this.root = root;
        this.beforeCall = beforeCall;
    }

    /**
     * Opens a folder, and makes it if it is not there. A folder that is there and cannot be written, such as one on a read-only
     * mount or a full disk, is opened with a warning: checkpoints in it can be loaded.
     *
     * @param folder the folder, the same one for all ranks
     * @return storage
     * @throws CheckpointException if it cannot be made, or its file system does not rename atomically; the message
     *     names the file system
     */
    public static LocalStorage at(Path folder) {
        return at(folder, call -> {});
    }

    /** Opens a folder, and tells each call of the file system. */
    static LocalStorage at(Path folder, Consumer<String> beforeCall) {
        Path root = Objects.requireNonNull(folder, "folder").toAbsolutePath().normalize();
        LocalStorage storage = new LocalStorage(root, beforeCall);
        try {
            storage.makeFolder(root);
            FileSystemTypes.refuseWithoutAtomicRename(
                    root, Files.getFileStore(root).type());
            String trouble = Files.isWritable(root) ? tryPublishing(root) : "read-only for this process";
            if (!trouble.isEmpty()) {
                LOG.log(
                        Level.WARNING,
                        "{0} cannot be written ({1}): checkpoints there can be loaded, and not saved",
                        root,
                        trouble);
            }
        } catch (IOException failure) {
            throw new CheckpointException("cannot keep checkpoints in " + root + ": " + Text.of(failure), failure);
        }
        return storage;
    }

    /** Publishes once; returns why the folder cannot be written, such as a full disk, or nothing. */
    private static String tryPublishing(Path root) throws IOException {
        Path target = root.resolve(".ferro-" + UUID.randomUUID());
        Path fresh = target.resolveSibling(target.getFileName() + TEMPORARY);
        try {
            Files.write(target, new byte[] {1});
            Files.write(fresh, new byte[] {2});
            Files.move(fresh, target, ATOMIC_MOVE);
            return "";
        } catch (AtomicMoveNotSupportedException | UnsupportedOperationException refused) {
            throw FileSystemTypes.refusal(root, Files.getFileStore(root).type(), "it says so itself");
        } catch (IOException failure) {
            return Text.of(failure);
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

    /** Makes a folder and those above it that are missing, each forced to disk in the one above before the next is made. */
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
            content.writeTo(channel);
            beforeCall.accept("force " + file.getFileName());
            channel.force(true);
        }
    }

    /** Windows opens no folder, and has no call for this. */
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
        Path start = slash < 0 ? root : path(prefix.substring(0, slash));
        List<StoredObject> found = new ArrayList<>();
        addFiles(start, found, slash < 0 ? prefix : null);
        found.removeIf(object -> !object.name().startsWith(prefix) || !ObjectNames.isObject(object.name()));
        return found;
    }

    /** Adds files, and those in folders, whose names begin so; null for all files and no folder. */
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
            // by another rank since it was listed, so that it is no longer there
            return;
        }
    }

    @Override
    public void publish(String name, byte[] content) throws IOException {
        Path file = path(name);
        // a name of this call alone: another job may publish the same name meanwhile
        String nonce = HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextInt());
        Path fresh = file.resolveSibling(file.getFileName() + "." + nonce + TEMPORARY);
        try {
            writeAndForce(fresh, channel -> {
                ByteBuffer bytes = ByteBuffer.wrap(content);
                while (bytes.hasRemaining()) {
                    channel.write(bytes);
                }
            });
            beforeCall.accept("rename " + fresh.getFileName());
            Files.move(fresh, file, ATOMIC_MOVE);
        } catch (IOException failure) {
            deleteAfter(failure, fresh);
            throw failure;
        }
        forceFolder(file.getParent());
    }

    /** Deletes a temporary file, which nobody else does before another job saves here. */
    private static void deleteAfter(IOException failure, Path fresh) {
        try {
            Files.deleteIfExists(fresh);
        } catch (IOException stays) {
            failure.addSuppressed(stays);
        }
    }

    /** Deletes a file, and its folder with the last one. */
    @Override
    public void delete(String name) throws IOException {
        Path file = path(name);
        beforeCall.accept("delete " + file.getFileName());
        Files.deleteIfExists(file);
        if (!file.getParent().equals(root)) {
            try {
                Files.deleteIfExists(file.getParent());
            } catch (DirectoryNotEmptyException more) {
                // the last file of the folder takes it along
                return;
            }
        }
    }

    /**
     * Says where it is.
     *
     * @return the absolute path of the folder
     */
    @Override
    public String toString() {
        return root.toString();
    }
}

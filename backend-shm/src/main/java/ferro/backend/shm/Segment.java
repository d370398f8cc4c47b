package ferro.backend.shm;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/**
 * This rank's own segment: a mapped file. The data area is at the start, so that it begins with a page. The token by
 * which others see that they have found the right file follows on a page of its own.
 *
 * <p>It is made in stages, so that a test can end the process between any two stages.
 */
final class Segment implements AutoCloseable {
    static final int TOKEN_BYTES = 2 * Long.BYTES;

    private static final int PAGE = 4096;
    private static final int ZEROS = 64 << 10;
    /**
     * Bytes written between two checks of the limit, a multiple of {@code ZEROS}; each rank may write this much beyond a
     * limit that it has not seen yet.
     */
    private static final int BETWEEN_LOOKS = 1 << 20;

    private static final FileAttribute<?> OWNER_ONLY =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

    private final SegmentFolder place;
    private final long bytes;
    private final String name;
    private final Path path;
    private final UUID token;
    private FileChannel file;
    private FileFacts facts;
    private int descriptor = -1;
    private boolean named;
    private Mapper.Mapping area;

    Segment(SegmentFolder place, long bytes) {
        SecureRandom random = new SecureRandom();
        this.place = place;
        this.bytes = bytes;
        name = SegmentName.of(place.process(), unguessable(random)).toString();
        path = place.folder().resolve(name);
        token = unguessable(random);
    }

    /** One stage of making a segment. */
    interface CreationStage {
        /** Runs the stage. */
        void run() throws IOException;
    }

    /** Returns all stages, in order. */
    List<CreationStage> stages() {
        return List.of(this::create, this::hide, this::reserve, this::map, this::sign);
    }

    /** Returns the position of the token in a segment whose data area has this length. */
    static long tokenAt(long areaBytes) {
        return (areaBytes + PAGE - 1) / PAGE * PAGE;
    }

    /** Returns the length of the file of a segment whose data area has this length. */
    static long fileBytes(long areaBytes) {
        return tokenAt(areaBytes) + PAGE;
    }

    private void create() throws IOException {
        file = FileChannel.open(
                path,
                Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE),
                OWNER_ONLY);
        named = true;
        facts = FileFacts.of(path, LinkOption.NOFOLLOW_LINKS);
        descriptor = findDescriptor();
    }

    /** Finds the descriptor of the file by its inode. Only this channel has the file open, because its name is new. */
    private int findDescriptor() throws IOException {
        Path own = place.process().descriptor(place.process().pid(), 0).getParent();
        try (DirectoryStream<Path> numbers = Files.newDirectoryStream(own)) {
            for (Path number : numbers) {
                if (isThisFile(number)) {
                    return Integer.parseInt(number.getFileName().toString());
                }
            }
        }
        return -1;
    }

    private boolean isThisFile(Path number) {
        try {
            return FileFacts.of(number).isSameFile(facts.device(), facts.inode());
        } catch (IOException closedMeanwhile) {
            return false;
        }
    }

    /**
     * Removes the name where other ranks can open the file without it, by this process's descriptors. It keeps the name
     * where process numbers are those of a container: other containers may share the folder but not the process numbers.
     */
    private void hide() throws IOException {
        if (descriptor >= 0 && place.process().isInFirstNamespace() && opensByDescriptor()) {
            unlink();
        }
    }

    private boolean opensByDescriptor() {
        Path own = place.process().descriptor(place.process().pid(), descriptor);
        try (FileChannel again = FileChannel.open(own, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            return again.isOpen();
        } catch (IOException forbidden) {
            return false;
        }
    }

    /**
     * Writes the whole file. Memory that is mapped but not allocated, and then cannot be allocated, would end the process
     * by SIGBUS.
     */
    private void reserve() throws IOException {
        long need = fileBytes(bytes);
        long free = place.freeBytes();
        if (need > free) {
            throw new IOException("there are " + free + " bytes free");
        }
        Optional<MemoryLimit> limit = place.isInMemory() ? Optional.of(place.limit()) : Optional.empty();
        ByteBuffer zeros = ByteBuffer.allocateDirect((int) Math.min(ZEROS, need));
        long written = 0;
        while (written < need) {
            if (written % BETWEEN_LOOKS == 0) {
                refuseIfLittleIsLeft(limit, need - written);
            }
            zeros.position(0).limit((int) Math.min(zeros.capacity(), need - written));
            written += write(zeros, written);
        }
    }

    private int write(ByteBuffer zeros, long written) throws IOException {
        try {
            return file.write(zeros);
        } catch (ClosedChannelException interrupted) {
            throw interrupted;
        } catch (IOException full) {
            throw new IOException("only " + written + " bytes could be written: " + full.getMessage(), full);
        }
    }

    /**
     * Throws if the control group leaves too little. Other ranks write their segments at the same time, and all ranks of
     * one control group count together.
     */
    private static void refuseIfLittleIsLeft(Optional<MemoryLimit> limit, long need) throws IOException {
        Optional<MemoryLimit.Short> little = limit.flatMap(one -> one.tooShortFor(need));
        if (little.isPresent()) {
            throw new IOException("memory.max of control group " + little.get().group() + " leaves "
                    + little.get().left() + " of " + need + " bytes");
        }
    }

    private void map() throws IOException {
        area = place.mapper().map(file, 0, bytes);
    }

    private void sign() throws IOException {
        try (Mapper.Mapping last = place.mapper().map(file, tokenAt(bytes), TOKEN_BYTES)) {
            last.bytes()
                    .putLong(0, token.getMostSignificantBits())
                    .putLong(Long.BYTES, token.getLeastSignificantBits());
        }
    }

    /** Returns what others need to find the segment; valid once all stages are over. */
    Offer offer() {
        return new Offer(
                place.host(), place.process().pid(), descriptor, name, facts.device(), facts.inode(), bytes, token);
    }

    Mapper.Mapping area() {
        return area;
    }

    long bytes() {
        return bytes;
    }

    /**
     * Maps the data area once more. The garbage collector unmaps it when nobody can reach the buffer or one made of it.
     *
     * @throws IOException if there is no address space, or the segment is settled
     */
    ByteBuffer lend() throws IOException {
        return file.map(FileChannel.MapMode.READ_WRITE, 0, bytes).order(ByteOrder.nativeOrder());
    }

    /** Removes the name and closes the descriptor, once no rank looks for the segment any more; the memory stays. */
    void settle() throws IOException {
        unlink();
        if (file != null) {
            file.close();
        }
    }

    /** Removes everything, whatever stage the segment has come to. */
    @Override
    public void close() throws IOException {
        try {
            settle();
        } finally {
            if (area != null) {
                area.close();
                area = null;
            }
        }
    }

    private void unlink() throws IOException {
        if (named) {
            named = false;
            Files.deleteIfExists(path);
        }
    }

    private static UUID unguessable(SecureRandom random) {
        return new UUID(random.nextLong(), random.nextLong());
    }
}

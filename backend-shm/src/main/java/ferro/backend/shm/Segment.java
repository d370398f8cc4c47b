package ferro.backend.shm;

import ferro.spi.SegmentSize;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.UUID;

/**
 * The segment of this rank, which is a mapped file. The data area is at the start of the file, so that the data area
 * begins with a page. The token follows on a separate page. Other ranks check the token to be sure that they have
 * opened the right file.
 *
 * <p>A segment is created in stages, so that a test can end the process between any two stages.
 */
final class Segment implements AutoCloseable {
    static final int TOKEN_BYTES = 2 * Long.BYTES;

    private static final int PAGE = 4096;
    private static final int ZEROS = 64 << 10;
    /**
     * Bytes that are written between two checks of the memory limit, a multiple of {@code ZEROS}. Each rank may write
     * this number of bytes beyond the limit before the next check.
     */
    private static final int BETWEEN_LOOKS = 1 << 20;

    private static final FileAttribute<?> OWNER_ONLY =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

    private final SegmentFolder place;
    private final SegmentSize size;
    private final long promised;
    private final String name;
    private final Path path;
    private final UUID token;
    private FileChannel file;
    private FileStat facts;
    /**
     * Whether the folder is in memory. The field is set once, because a process without free descriptors cannot find
     * out later.
     */
    private boolean isInMemory;

    private int descriptor = -1;
    private boolean named;
    private FileMapper.Mapping area;

    /**
     * Prepares a segment. Memory for a part of the segment may be reserved later.
     *
     * @param promised bytes that the ranks of the host may still reserve later, including the bytes of this segment
     */
    Segment(SegmentFolder place, SegmentSize size, long promised) {
        SecureRandom random = new SecureRandom();
        this.place = place;
        this.size = size;
        this.promised = promised;
        name = SegmentName.of(place.process(), unguessable(random)).toString();
        path = place.folder().resolve(name);
        token = unguessable(random);
    }

    /** One stage of the creation of a segment. */
    interface CreationStage {
        void run() throws IOException;
    }

    void make() throws IOException {
        for (CreationStage stage : stages()) {
            stage.run();
        }
    }

    List<CreationStage> stages() {
        return List.of(this::create, this::hide, this::reserve, this::map, this::sign);
    }

    /** Returns the position of the token in a segment that has {@code areaBytes} bytes of data. */
    static long tokenAt(long areaBytes) {
        return (areaBytes + PAGE - 1) / PAGE * PAGE;
    }

    /** Returns the length of the file of a segment that has {@code areaBytes} bytes of data. */
    static long fileBytes(long areaBytes) {
        return tokenAt(areaBytes) + PAGE;
    }

    private void create() throws IOException {
        file = FileChannel.open(
                path,
                Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE),
                OWNER_ONLY);
        named = true;
        isInMemory = place.isInMemory();
        facts = FileStat.of(path, LinkOption.NOFOLLOW_LINKS);
        descriptor = findDescriptor();
    }

    /**
     * Finds the descriptor of the file by the key of the file. The file is open only by the channel of this object,
     * because the name of the file is new. The search begins at the highest descriptor, because a new descriptor most
     * likely has a high number.
     */
    private int findDescriptor() throws IOException {
        Path own = place.process().descriptor(place.process().pid(), 0).getParent();
        Object key = Files.readAttributes(path, BasicFileAttributes.class).fileKey();
        List<Integer> numbers = new ArrayList<>();
        try (DirectoryStream<Path> descriptors = Files.newDirectoryStream(own)) {
            for (Path descriptor : descriptors) {
                numbers.add(Integer.valueOf(descriptor.getFileName().toString()));
            }
        } catch (DirectoryIteratorException unreadable) {
            throw unreadable.getCause();
        }
        numbers.sort(Collections.reverseOrder());
        for (int number : numbers) {
            if (isFile(own.resolve(Integer.toString(number)), key)) {
                return number;
            }
        }
        return -1;
    }

    private static boolean isFile(Path number, Object key) {
        try {
            return key.equals(
                    Files.readAttributes(number, BasicFileAttributes.class).fileKey());
        } catch (IOException closedMeanwhile) {
            return false;
        }
    }

    /**
     * Removes the name of the file if other ranks can open the file by a descriptor of this process. Keeps the name if
     * the process numbers are valid only in a container, since other containers may share the folder but not the
     * process numbers.
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
     * Writes the file, except for the part that is reserved later. An access to mapped memory that the kernel cannot
     * allocate would end the process by SIGBUS.
     */
    private void reserve() throws IOException {
        long end = fileBytes(size.bytes());
        long need = end - size.later() + promised;
        long free = place.freeBytes();
        if (need > free) {
            throw new SegmentShortage.NoSpaceException("there are " + free + " bytes free"
                    + (promised > 0 ? ", but " + promised + " are reserved for later use by ranks" : ""));
        }
        refuseIfLittleIsLeft(need);
        write(0, size.laterFrom());
        write(size.laterTo(), end);
    }

    /**
     * Reserves memory for a part of the segment that the creation did not reserve.
     *
     * @throws IOException if too little memory is free, or if this thread was interrupted
     */
    void reserve(long from, long count) throws IOException {
        // an interrupt that is meant for other code would close the file permanently
        boolean interrupted = Thread.interrupted();
        try {
            write(from, from + count);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private void write(long from, long to) throws IOException {
        ByteBuffer zeros = ByteBuffer.allocateDirect((int) Math.min(ZEROS, Math.max(1, to - from)));
        for (long at = from; at < to; at += zeros.position()) {
            if ((at - from) % BETWEEN_LOOKS == 0) {
                refuseIfLittleIsLeft(to - at);
            }
            zeros.position(0).limit((int) Math.min(zeros.capacity(), to - at));
            write(zeros, at);
        }
    }

    private void write(ByteBuffer zeros, long at) throws IOException {
        try {
            for (int written = 0; zeros.hasRemaining(); written = zeros.position()) {
                file.write(zeros, at + written);
            }
        } catch (ClosedChannelException interrupted) {
            throw interrupted;
        } catch (IOException full) {
            throw new SegmentShortage.NoSpaceException(
                    "only " + (at + zeros.position()) + " bytes could be written: " + full.getMessage(), full);
        }
    }

    /**
     * Throws an exception if the control group leaves too little memory. Other ranks write their segments at the same
     * time, and the limit applies to all ranks of a control group together.
     */
    private void refuseIfLittleIsLeft(long need) throws SegmentShortage.NoSpaceException {
        if (isInMemory) {
            MemoryLimitCheck.check(place.process().proc(), need);
        }
    }

    private void map() throws IOException {
        area = place.mapper().map(file, 0, size.bytes());
    }

    private void sign() throws IOException {
        try (FileMapper.Mapping last = place.mapper().map(file, tokenAt(size.bytes()), TOKEN_BYTES)) {
            last.bytes()
                    .putLong(0, token.getMostSignificantBits())
                    .putLong(Long.BYTES, token.getLeastSignificantBits());
        }
    }

    /** Returns the data by which other ranks find the segment. The data is valid after all stages have run. */
    SegmentOffer offer() {
        return new SegmentOffer(
                place.host(),
                place.process().pid(),
                descriptor,
                name,
                facts.device(),
                facts.inode(),
                size.bytes(),
                token);
    }

    FileMapper.Mapping area() {
        return area;
    }

    long bytes() {
        return size.bytes();
    }

    /**
     * Maps the data area a second time. The garbage collector removes the second mapping when the returned buffer and
     * all buffers derived from that buffer are unreachable.
     *
     * @throws IOException if no address space is free, or if {@link #settle} has closed the file
     */
    ByteBuffer lend() throws IOException {
        return file.map(FileChannel.MapMode.READ_WRITE, 0, size.bytes()).order(ByteOrder.nativeOrder());
    }

    /**
     * Removes the name of the file. May be called only after every rank has tried to map the segment. Closes the
     * descriptor unless memory is reserved later. The memory of the segment stays.
     */
    void settle() throws IOException {
        unlink();
        if (size.later() == 0) {
            closeFile();
        }
    }

    private void closeFile() throws IOException {
        if (file != null) {
            file.close();
        }
    }

    /** Removes the name, closes the file and unmaps the data area. The segment may be only partly created. */
    @Override
    public void close() throws IOException {
        try {
            unlink();
            closeFile();
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

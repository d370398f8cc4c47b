package ferro.backend.shm;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.spi.GroupSpec;
import ferro.spi.SharedMemory;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.file.LinkOption;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/** The segment of this rank, and the segments of other ranks that this rank has mapped. */
final class ShmMemory implements SharedMemory {
    private static final Set<OpenOption> ANY = Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE);
    private static final Set<OpenOption> NO_LINK =
            Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS);

    private final GroupSpec group;
    private final SegmentFolder place;
    private final Segment own;
    private final MemoryBudget.Reservation taken;
    /** Mapped segments by rank; null for a rank whose segment is not mapped. */
    private final FileMapper.Mapping[] areas;

    private volatile boolean closed;

    /**
     * Creates the shared memory of a rank. The close of this object closes the segment {@code own}.
     *
     * @param taken reservation of the segment's bytes in the budget
     */
    ShmMemory(GroupSpec group, SegmentFolder place, Segment own, MemoryBudget.Reservation taken) {
        this.group = group;
        this.place = place;
        this.own = own;
        this.taken = taken;
        areas = new FileMapper.Mapping[group.worldSize()];
        areas[group.rank()] = own.area();
    }

    @Override
    public byte[] offer() {
        byte[] encoded = own.offer().encoded();
        if (encoded.length > OFFER_BYTES_MOST) {
            throw failure("its offer has " + encoded.length + " bytes, need at most " + OFFER_BYTES_MOST, null);
        }
        return encoded;
    }

    @Override
    public Optional<String> reach(int rank, byte[] offered) {
        if (areas[rank] != null) {
            return Optional.empty();
        }
        try {
            SegmentOffer offer = SegmentOffer.decode(offered);
            Optional<String> stranger = strangerBecause(offer);
            return stranger.isPresent() ? stranger : find(rank, offer);
        } catch (IOException nonsense) {
            return Optional.of("its offer is invalid: " + nonsense.getMessage());
        }
    }

    private Optional<String> strangerBecause(SegmentOffer offer) {
        if (!offer.host().equals(place.host())) {
            return Optional.of("it is on another host: (" + offer.host() + "), this rank on (" + place.host() + ")");
        }
        if (offer.bytes() != own.bytes()) {
            return Optional.of("its area has " + offer.bytes() + " bytes, this rank's " + own.bytes());
        }
        // a name from a peer is never used as a path. This rank opens only a file of its own folder, or a descriptor
        // that proves to be such a file
        return SegmentName.parse(offer.name()).isPresent()
                ? Optional.empty()
                : Optional.of("\"" + offer.name() + "\" is not the name of a segment");
    }

    private Optional<String> find(int rank, SegmentOffer offer) {
        List<String> reasons = new ArrayList<>();
        Path descriptor = place.process().descriptor(offer.pid(), offer.descriptor());
        for (Path path : List.of(descriptor, place.folder().resolve(offer.name()))) {
            try {
                areas[rank] = mapped(path, path.equals(descriptor), offer);
                return Optional.empty();
            } catch (IOException failure) {
                reasons.add(path + ": " + SegmentShortage.of(failure).what());
            } catch (RuntimeException failure) {
                reasons.add(path + ": " + failure);
            }
        }
        return Optional.of("its segment cannot be opened: " + String.join("; ", reasons));
    }

    /**
     * Checks that a file is the offered segment, and maps the file. Without the check, a process number of another
     * namespace could lead to a device.
     */
    private FileMapper.Mapping mapped(Path path, boolean link, SegmentOffer offer) throws IOException {
        FileStat facts = link ? FileStat.of(path) : FileStat.of(path, LinkOption.NOFOLLOW_LINKS);
        check(facts, offer);
        try (FileChannel file = FileChannel.open(path, link ? ANY : NO_LINK)) {
            checkToken(file, offer);
            return place.mapper().map(file, 0, offer.bytes());
        }
    }

    private static void check(FileStat facts, SegmentOffer offer) throws IOException {
        if (!facts.regular() || facts.device() != offer.device() || facts.inode() != offer.inode()) {
            throw new IOException("it is not the offered file: " + facts + ", need device " + offer.device() + " inode "
                    + offer.inode());
        }
        long need = Segment.fileBytes(offer.bytes());
        if (facts.size() != need) {
            throw new IOException("it has " + facts.size() + " bytes, need " + need);
        }
    }

    /**
     * Checks the token of a segment. The owner has written the token through a mapping. A reader with a mapping reads
     * the same memory.
     */
    private void checkToken(FileChannel file, SegmentOffer offer) throws IOException {
        try (FileMapper.Mapping last = place.mapper().map(file, Segment.tokenAt(offer.bytes()), Segment.TOKEN_BYTES)) {
            ByteBuffer bytes = last.bytes();
            if (!new UUID(bytes.getLong(0), bytes.getLong(Long.BYTES)).equals(offer.token())) {
                throw new IOException(
                        "its token at byte " + Segment.tokenAt(offer.bytes()) + " is not the offered token");
            }
        }
    }

    @Override
    public void settle() {
        try {
            own.settle();
        } catch (IOException failure) {
            throw failure("its segment file cannot be deleted: " + failure, failure);
        }
    }

    @Override
    public ByteBuffer area(int rank) {
        if (closed || areas[rank] == null) {
            throw new IllegalStateException("rank " + group.rank() + " of \"" + group.name() + "\" has no area of rank "
                    + rank + ": " + (closed ? "its shared memory is closed" : "it was not reached"));
        }
        return areas[rank].bytes();
    }

    @Override
    public void reserve(long from, long bytes) {
        try {
            own.reserve(from, bytes);
            taken.reserved(bytes);
        } catch (IOException failure) {
            throw failure(
                    "need " + bytes + " bytes more in " + place.folder() + ", where "
                            + SegmentShortage.of(failure).text(),
                    failure);
        }
    }

    @Override
    public ByteBuffer lend() {
        try {
            ByteBuffer buffer = own.lend();
            taken.lend(buffer);
            return buffer;
        } catch (IOException failure) {
            throw failure(
                    "its segment cannot be mapped for a tensor: "
                            + SegmentShortage.of(failure).text(),
                    failure);
        }
    }

    @Override
    public void giveBack() {
        taken.giveBack();
    }

    @Override
    public String host() {
        return place.host();
    }

    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        IOException first = null;
        for (int rank = 0; rank < areas.length; rank++) {
            if (rank != group.rank() && areas[rank] != null) {
                first = givenBack(areas[rank]::close, first);
            }
        }
        first = givenBack(own::close, first);
        taken.close();
        if (first != null) {
            throw failure("its segments cannot be released: " + first, first);
        }
    }

    private static IOException givenBack(Closeable part, IOException before) {
        try {
            part.close();
            return before;
        } catch (IOException | RuntimeException failure) {
            if (before != null) {
                before.addSuppressed(failure);
                return before;
            }
            return failure instanceof IOException io
                    ? io
                    : new IOException("an area is still in use: " + failure, failure);
        }
    }

    private FerroException failure(String what, IOException cause) {
        Code code = cause instanceof ClosedByInterruptException ? Code.INTERRUPTED : Code.RESOURCE;
        return new FerroException(
                code,
                Where.of(group.name(), group.rank()),
                "shared memory of group \"" + group.name() + "\" rank " + group.rank() + ": " + what,
                cause);
    }
}

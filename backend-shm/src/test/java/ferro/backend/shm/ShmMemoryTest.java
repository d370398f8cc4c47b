package ferro.backend.shm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.spi.SegmentSize;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Areas of ranks of one JVM; processes of their own stand in KilledProcessTest. */
class ShmMemoryTest {
    private static final int BYTES = 10_000;
    private static final long PATIENCE_NANOS = 60_000_000_000L;

    private final Deque<ShmMemory> opened = new ArrayDeque<>();
    private final AtomicInteger givenBack = new AtomicInteger();

    @TempDir
    private Path folder;

    @AfterEach
    void closeAll() {
        opened.forEach(ShmMemory::close);
    }

    @Test
    void aRankReadsWhatAnotherWrites() throws IOException {
        ShmMemory first = open(SegmentFolders.onTheMachine(folder), 0);
        ShmMemory second = open(SegmentFolders.onTheMachine(folder), 1);
        assertTrue(first.reach(1, second.offer()).isEmpty());
        assertTrue(second.reach(0, first.offer()).isEmpty());

        first.area(0).putLong(BYTES - Long.BYTES, 4711);
        first.area(1).putInt(0, -7);

        assertEquals(4711, second.area(0).getLong(BYTES - Long.BYTES));
        assertEquals(-7, second.area(1).getInt(0));
        first.settle();
        assertEquals(-7, second.area(1).getInt(0));
    }

    @Test
    void aSegmentIsDirectZeroedNativeAndPageAligned() throws IOException {
        ByteBuffer area = open(SegmentFolders.onTheMachine(folder), 0).area(0);

        assertTrue(area.isDirect());
        assertEquals(ByteOrder.nativeOrder(), area.order());
        assertEquals(BYTES, area.capacity());
        assertEquals(0, area.alignmentOffset(0, 4096));
        assertEquals(ByteBuffer.allocate(BYTES), area);
    }

    @Test
    void aFileHasNoNameIfDescriptorsCanBeOpened() throws IOException {
        ShmMemory first = open(SegmentFolders.onTheMachine(folder), 0);

        assertEquals(List.of(), SegmentFolders.files(folder));
        ShmMemory second = open(SegmentFolders.onTheMachine(folder), 1);
        assertTrue(second.reach(0, first.offer()).isEmpty());
    }

    @Test
    void aNamedFileIsPrivateAndIsUnlinkedOnceAllHaveMappedIt() throws IOException {
        ShmMemory first = open(SegmentFolders.inAContainer(folder), 0);

        Path file = folder.resolve(SegmentFolders.files(folder).get(0));
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
        first.settle();
        assertEquals(List.of(), SegmentFolders.files(folder));
    }

    @Test
    void aDescriptorOfAnotherFileIsNotOpenedAndTheNameIsUsed() throws IOException {
        ShmMemory first = open(SegmentFolders.inAContainer(folder), 0);
        ShmMemory second = open(SegmentFolders.inAContainer(folder), 1);
        SegmentOffer offer = SegmentOffer.decode(first.offer());

        assertTrue(second.reach(0, with(offer, 0, offer.token())).isEmpty());

        first.area(0).put(3, (byte) 9);
        assertEquals(9, second.area(0).get(3));
    }

    @Test
    void aDifferentTokenIsADifferentSegment() throws IOException {
        ShmMemory first = open(SegmentFolders.inAContainer(folder), 0);
        ShmMemory second = open(SegmentFolders.inAContainer(folder), 1);
        SegmentOffer offer = SegmentOffer.decode(first.offer());

        String reason =
                second.reach(0, with(offer, offer.descriptor(), new UUID(3, 4))).orElseThrow();

        assertTrue(reason.contains("not the offered token"), reason);
        assertThrows(IllegalStateException.class, () -> second.area(0));
    }

    @Test
    void aRankOfAnotherHostIsNotMapped() throws IOException {
        ShmMemory first = open(SegmentFolders.onTheMachine(folder), 0);
        SegmentFolder here = SegmentFolders.onTheMachine(folder);
        ShmMemory second = open(new SegmentFolder(folder, here.process(), "crate", here.mapper()), 1);

        String reason = second.reach(0, first.offer()).orElseThrow();

        assertTrue(reason.contains("another host: (box), this rank on (crate)"), reason);
    }

    @Test
    void anOfferWithAFileOutsideTheFolderIsRefused() throws IOException {
        ShmMemory first = open(SegmentFolders.inAContainer(folder), 0);
        Path elsewhere = Files.createFile(folder.resolve("secret"));
        SegmentOffer offer = SegmentOffer.decode(first.offer());
        SegmentOffer forged = new SegmentOffer(
                offer.host(),
                offer.pid(),
                -1,
                "../" + folder.getFileName() + "/secret",
                FileStat.of(elsewhere).device(),
                FileStat.of(elsewhere).inode(),
                offer.bytes(),
                offer.token());

        String reason = open(SegmentFolders.inAContainer(folder), 1)
                .reach(0, forged.encoded())
                .orElseThrow();

        assertTrue(reason.contains("not the name of a segment"), reason);
    }

    @Test
    void aTruncatedFileIsNotMapped() throws IOException {
        ShmMemory first = open(SegmentFolders.inAContainer(folder), 0);
        ShmMemory second = open(SegmentFolders.inAContainer(folder), 1);
        byte[] offer = first.offer();
        try (FileChannel file =
                FileChannel.open(folder.resolve(SegmentOffer.decode(offer).name()), StandardOpenOption.WRITE)) {
            file.truncate(100);
        }

        String reason = second.reach(0, offer).orElseThrow();

        assertTrue(reason.contains("it has 100 bytes, need 16384"), reason);
    }

    @Test
    void bytesThatAreNotAnOfferAreTheReason() throws IOException {
        String reason = open(SegmentFolders.onTheMachine(folder), 0)
                .reach(1, new byte[100])
                .orElseThrow();

        assertTrue(reason.contains("its offer is invalid"), reason);
    }

    @Test
    void closingUnmapsAtOnceAndReturnsTheBudgetOnce() throws IOException {
        ShmMemory first = open(SegmentFolders.inAContainer(folder), 0);
        ShmMemory second = open(SegmentFolders.inAContainer(folder), 1);
        assertTrue(second.reach(0, first.offer()).isEmpty());
        assertEquals(3, SegmentFolders.mapped(folder.toString()).size());

        second.close();
        second.close();
        first.close();

        assertEquals(List.of(), SegmentFolders.mapped(folder.toString()));
        assertEquals(List.of(), SegmentFolders.files(folder));
        assertEquals(2, givenBack.get());
        assertThrows(IllegalStateException.class, () -> first.area(0));
    }

    @Test
    void lentMemoryStaysMappedUntilItIsUnreachable() throws IOException {
        ShmMemory first = open(SegmentFolders.inAContainer(folder), 0);
        ShmMemory second = open(SegmentFolders.inAContainer(folder), 1);
        ByteBuffer[] lent = {first.lend()};
        assertTrue(second.reach(0, first.offer()).isEmpty());
        lent[0].putInt(8, 4711);
        assertEquals(4711, second.area(0).getInt(8));

        second.close();
        first.close();
        lent[0] = lent[0].slice(8, 4).order(ByteOrder.nativeOrder());
        System.gc();

        assertEquals(4711, lent[0].getInt(0));
        assertEquals(1, SegmentFolders.mapped(folder.toString()).size());
        assertEquals(1, givenBack.get(), "the second, of which nothing was lent");
        lent[0] = null;
        unmapped();
    }

    @Test
    void laterMemoryTakesNoSpaceUntilItIsReserved() throws IOException, InterruptedException {
        SegmentSize size =
                SegmentSize.now(1 << 20).withLater(4096, (1 << 20) - 8192).withRanks(2);
        ShmMemory first = open(SegmentFolders.inAContainer(folder), 0, size);
        Path file = folder.resolve(SegmentFolders.files(folder).get(0));
        ShmMemory second = open(SegmentFolders.inAContainer(folder), 1, size);
        assertEquals((1 << 20) + 4096, Files.size(file));
        assertEquals(16, kibibytes(file), "the first page, the last two, and the token's");
        assertTrue(second.reach(0, first.offer()).isEmpty());

        first.reserve(4096, 1 << 16);
        assertEquals(16 + 64, kibibytes(file));
        first.area(0).putInt(8192, 4711);
        first.settle();
        first.reserve(4096 + (1 << 16), 4096);

        assertEquals(4711, second.area(0).getInt(8192));
    }

    @Test
    void promisedMemoryIsReturnedWithTheRest() {
        MemoryBudget budget = new MemoryBudget();
        MemoryBudget.Reservation taken = budget.new Reservation(8192, () -> {});
        assertEquals(4096, taken.promise(SegmentSize.now(8192).withLater(0, 4096)));
        MemoryBudget.Reservation other = budget.new Reservation(1, () -> {});
        taken.reserved(1024);
        assertEquals(3072, other.promise(SegmentSize.now(1)));

        taken.giveBack();

        assertEquals(0, other.promise(SegmentSize.now(1)), "bytes that are still promised");
    }

    private static long kibibytes(Path file) throws IOException, InterruptedException {
        Process du = new ProcessBuilder("du", "-k", file.toString()).start();
        String told = new String(du.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, du.waitFor(), told);
        return Long.parseLong(told.substring(0, told.indexOf('\t')));
    }

    @Test
    void anInterruptDoesNotPreventReservingMemory() throws IOException {
        ShmMemory memory = open(
                SegmentFolders.inAContainer(folder),
                0,
                SegmentSize.now(1 << 20).withLater(4096, 1 << 20).withRanks(2));
        Thread.currentThread().interrupt();

        memory.reserve(4096, 4096);

        assertTrue(Thread.interrupted());
        memory.reserve(8192, 4096);
    }

    @Test
    void anInterruptDuringAllocationIsReported() throws IOException {
        ShmMemory memory = open(SegmentFolders.inAContainer(folder), 0);
        Thread.currentThread().interrupt();

        FerroException failure = assertThrows(FerroException.class, memory::lend);

        assertTrue(Thread.interrupted());
        assertEquals(FerroException.Code.INTERRUPTED, failure.code(), failure.getMessage());
    }

    /** Waits until the collector has unmapped what nobody reaches. */
    private void unmapped() throws IOException {
        long begun = System.nanoTime();
        while (!SegmentFolders.mapped(folder.toString()).isEmpty()) {
            assertTrue(
                    System.nanoTime() - begun < PATIENCE_NANOS,
                    "still mapped: " + SegmentFolders.mapped(folder.toString()));
            System.gc();
        }
    }

    private ShmMemory open(SegmentFolder place, int rank) throws IOException {
        return open(place, rank, SegmentSize.now(BYTES));
    }

    private ShmMemory open(SegmentFolder place, int rank, SegmentSize size) throws IOException {
        ShmMemory memory = SegmentFolders.open(place, rank, size, givenBack::incrementAndGet);
        opened.add(memory);
        return memory;
    }

    private static byte[] with(SegmentOffer offer, int descriptor, UUID token) {
        return new SegmentOffer(
                        offer.host(),
                        offer.pid(),
                        descriptor,
                        offer.name(),
                        offer.device(),
                        offer.inode(),
                        offer.bytes(),
                        token)
                .encoded();
    }
}

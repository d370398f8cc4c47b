package ferro.backend.shm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.spi.GroupSpec;
import ferro.spi.SegmentSize;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Only a lack of room is told as one. */
class SegmentShortageTest {
    private static final String LINKS = ", or send everything over TCP with ferro.links=tcp";

    private static final GroupSpec GROUP = GroupSpec.of("world", 0, 2, Duration.ofSeconds(10));

    @TempDir
    private Path folder;

    @Test
    void missingSpaceIsReportedWithTheAdviceToAddSpace() {
        assertEquals(
                "there are 5 bytes free: give it more (for a container: docker run --shm-size, --memory), name another"
                        + " folder by ferro.shm.dir" + LINKS,
                SegmentShortage.of(new SegmentShortage.NoSpaceException("there are 5 bytes free"))
                        .text());
    }

    @Test
    void aRefusedMappingIsReportedWithTheAdviceToRaiseAddressSpace() {
        assertEquals(
                "a mapping was refused: Cannot allocate memory (ENOMEM): raise the limit of address space (ulimit -v) or of"
                        + " mappings (vm.max_map_count)" + LINKS,
                SegmentShortage.of(noAddressSpace()).text());
    }

    @Test
    void missingDescriptorsAreReportedWithTheAdviceToRaiseTheLimit() {
        assertEquals(
                "/dev/shm/a cannot be opened: Too many open files (EMFILE): raise the limit of open files (ulimit -n)"
                        + LINKS,
                SegmentShortage.of(new FileSystemException("/dev/shm/a", null, "Too many open files"))
                        .text());
        assertEquals(
                "/dev/shm/a cannot be opened: Too many open files in system (ENFILE): raise the limit of open files"
                        + " (fs.file-max)" + LINKS,
                SegmentShortage.of(new FileSystemException("/dev/shm/a", null, "Too many open files in system"))
                        .text());
    }

    @Test
    void anyOtherErrorIsReportedWithTheTextOfTheKernel() {
        for (IOException other :
                List.of(new NoSuchFileException("/gone"), new IOException("Map failed: Operation not permitted"))) {
            String text = SegmentShortage.of(other).text();
            assertTrue(text.contains(other.getMessage()), text);
            assertFalse(text.contains("give it more"), text);
        }
    }

    @Test
    void aPeersMemoryThatCannotBeMappedIsReportedWithItsErrno() throws IOException {
        SegmentFolder here = SegmentFolders.inAContainer(folder);
        try (Segment peer = SegmentFolders.made(here, SegmentSize.now(4096));
                Segment own = SegmentFolders.made(here, SegmentSize.now(4096))) {
            SegmentFolder full = new SegmentFolder(folder, here.process(), here.host(), (file, from, bytes) -> {
                throw noAddressSpace();
            });
            try (ShmMemory memory =
                    new ShmMemory(GROUP, full, own, new MemoryBudget().new Reservation(4096, () -> {}))) {
                String reason = memory.reach(1, peer.offer().encoded()).orElseThrow();
                assertTrue(reason.contains("a mapping was refused: Cannot allocate memory (ENOMEM)"), reason);
            }
        }
    }

    /** As the JDK throws it where mmap(2) says ENOMEM. */
    private static IOException noAddressSpace() {
        return new IOException("Map failed", new OutOfMemoryError("Map failed"));
    }
}

package ferro.backend.shm;

import ferro.spi.GroupSpec;
import ferro.spi.LinuxFiles;
import ferro.spi.SegmentSize;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/** Folders of segments as this process, or one in a container, sees them, and segments in such folders. */
final class SegmentFolders {
    private static final long FIRST_NAMESPACE = 0xEFFFFFFCL;
    private static final long A_CONTAINERS = 4026532999L;

    private SegmentFolders() {}

    /** Where every process of the machine can open this one's descriptors. */
    static SegmentFolder onTheMachine(Path folder) throws IOException {
        return of(folder, FIRST_NAMESPACE);
    }

    /** Where neighbours may have process numbers of their own. */
    static SegmentFolder inAContainer(Path folder) throws IOException {
        return of(folder, A_CONTAINERS);
    }

    private static SegmentFolder of(Path folder, long namespace) throws IOException {
        ProcessIdentity own = ProcessIdentity.in(LinuxFiles.HOST);
        ProcessIdentity process =
                new ProcessIdentity(own.proc(), own.boot(), namespace, own.pid(), own.startTicks(), own.user());
        return new SegmentFolder(folder, process, "box", FileMapper.ofThisJdk());
    }

    /** Makes a segment in all its stages. */
    static Segment made(SegmentFolder place, SegmentSize size) throws IOException {
        Segment segment = new Segment(place, size, 0);
        segment.make();
        return segment;
    }

    /** Opens the memory of a rank of a group of two, whose segment is made. */
    static ShmMemory open(SegmentFolder place, int rank, SegmentSize size, Runnable givenBack) throws IOException {
        GroupSpec group = GroupSpec.of("world", rank, 2, Duration.ofSeconds(10));
        return new ShmMemory(
                group, place, made(place, size), new MemoryBudget().new Reservation(size.bytes(), givenBack));
    }

    static List<String> files(Path folder) {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString()).sorted().toList();
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    /** What is mapped of files whose path holds a text. */
    static List<String> mapped(String text) throws IOException {
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/maps"))) {
            return lines.filter(line -> line.contains(text)).toList();
        }
    }
}

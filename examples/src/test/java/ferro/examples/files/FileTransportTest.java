package ferro.examples.files;

import static ferro.harness.Says.assertFails;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import ferro.group.SystemContext;
import ferro.harness.Child;
import ferro.harness.Jvm;
import ferro.spi.GroupSpec;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests of two ranks that share only files. This process is rank 0, and another process is rank 1. */
class FileTransportTest {
    @TempDir
    Path folder;

    @AutoClose
    private Child other;

    /** The program of the other process. It makes one sum, and then waits until it receives a message or is killed. */
    static final class Other {
        public static void main(String[] args) {
            try (ProcessGroup group = join(Path.of(args[0]), 1)) {
                group.allReduce(new double[1000], ReduceOp.SUM);
                group.recv(new int[1], 0, 0);
            }
        }
    }

    @BeforeEach
    void startOther() throws IOException {
        other = Child.start(Jvm.line(List.of(), Other.class, jobFolder()));
    }

    private Path jobFolder() throws IOException {
        return Files.createDirectories(folder.resolve("job"));
    }

    private static ProcessGroup join(Path folder, int rank) {
        GroupSpec spec = GroupSpec.of("world", rank, 2, Duration.ofSeconds(60));
        return ProcessGroup.of(FileTransport.join(folder, spec, SystemContext.of(Map.of())));
    }

    @Test
    void processesReachEachOtherByTheFileWhichTheLastOneRemoves() throws Exception {
        try (ProcessGroup group = join(jobFolder(), 0)) {
            double[] data = {5, 7, 11};
            double[] sum = Arrays.copyOf(data, 1000);

            group.allReduce(sum, ReduceOp.SUM);

            assertArrayEquals(Arrays.copyOf(data, 1000), sum);
            assertEquals("mapped files", group.medium().text());
            assertTrue(bytesSent() >= 1000 * Double.BYTES / 2, bytesSent() + " bytes are in the ring to rank 1");
            group.send(new int[1], 1, 0);
        }
        other.ended(0);
        try (Stream<Path> left = Files.list(jobFolder())) {
            assertEquals(List.of(), left.toList());
        }
    }

    @Test
    void aKilledProcessIsNamed() throws Exception {
        try (ProcessGroup group = join(jobFolder(), 0)) {
            group.allReduce(new double[1000], ReduceOp.SUM);
            other.kill();

            FerroException failure = assertFails(Code.PEER_LOST, group::barrier);

            assertEquals(Set.of(1), failure.where().culprits(), failure.getMessage());
        }
    }

    /**
     * Reads the first word of the ring for collectives from rank 0 to rank 1. After the head, the file has three rings
     * for each of four pairs of ranks, and this pair is the second.
     */
    private long bytesSent() throws IOException {
        ByteBuffer word = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.nativeOrder());
        try (FileChannel file = FileChannel.open(jobFolder().resolve("world"))) {
            file.read(word, (1 + 3) * RingEnd.BYTES);
        }
        return word.getLong(0);
    }
}

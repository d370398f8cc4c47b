package ferro;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How the address of a buffer is found on this JDK, on the class path, the module path, and where nothing tells it. */
class BufferAddressFinderTest {
    private static final boolean HAS_SEGMENTS = Runtime.version().feature() >= 22;

    private static final String CLASSES = folderOf("HostTensor.class");
    private static final String TESTS = folderOf("BufferAddressFinderTest.class");
    private static final String MAIN = Compares.class.getName();

    @TempDir
    private Path folder;

    @Test
    void theAddressIsThatOfTheFirstByteAtAnyPosition() {
        ByteBuffer memory = ByteBuffer.allocateDirect(64);
        long start = BufferAddressFinder.of(memory);
        assertEquals(start, BufferAddressFinder.of(memory.position(24)));
        assertEquals(start + 24, BufferAddressFinder.of(memory.slice()));
        assertEquals(start + 40, BufferAddressFinder.of(memory.slice(40, 0)));
        assertEquals(start & 63, memory.alignmentOffset(0, 64));
    }

    @Test
    void buffersOfOneMemoryOverlapOnTheClassPathWithoutAWarning() throws Exception {
        assertEquals("refused refused", compared("-cp", CLASSES + File.pathSeparator + TESTS, MAIN));
    }

    @Test
    void buffersOfOneMemoryOverlapOnTheModulePathWithoutAWarning() throws Exception {
        assertEquals("refused refused", onModulePath("--add-modules", "jdk.unsupported"));
    }

    @Test
    void withoutAddressesOverlapIsFoundWithinOneBufferOnly() throws Exception {
        String expected = HAS_SEGMENTS ? "refused refused" : "refused taken";
        assertEquals(expected, onModulePath("--limit-modules", "java.base"));
    }

    /** The folders that this JVM has classes from: the second JDK of CI builds into folders of its own. */
    private static String folderOf(String classFile) {
        try {
            return Path.of(BufferAddressFinderTest.class.getResource(classFile).toURI())
                    .getParent()
                    .getParent()
                    .toString();
        } catch (URISyntaxException impossible) {
            throw new IllegalStateException("no folder of " + classFile, impossible);
        }
    }

    private String onModulePath(String... modules) throws IOException, InterruptedException {
        List<String> options = new ArrayList<>(List.of(modules));
        options.addAll(List.of("-p", CLASSES, "--patch-module", "ferro.spi=" + TESTS, "-m", "ferro.spi/" + MAIN));
        return compared(options.toArray(String[]::new));
    }

    /** Returns what a JVM prints that starts with these options. */
    private String compared(String... options) throws IOException, InterruptedException {
        Path printed = folder.resolve("printed");
        List<String> command = new ArrayList<>(
                List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-XX:+UseSerialGC"));
        command.addAll(List.of(options));
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(printed.toFile())
                .start();
        try {
            assertTrue(process.waitFor(30, TimeUnit.SECONDS), "the JVM still runs");
        } finally {
            process.destroyForcibly();
        }
        return Files.readString(printed).strip();
    }

    /** Makes two calls with an overlap: in one buffer, and in two of one memory. */
    static final class Compares {
        public static void main(String[] arguments) {
            ByteBuffer memory = ByteBuffer.allocateDirect(64).order(ByteOrder.nativeOrder());
            HostTensor all = HostTensor.of(DataType.INT32, memory);
            HostTensor in = all.slice(0, 8);
            HostTensor other = HostTensor.of(DataType.INT32, all.slice(1, 8).buffer());
            System.out.println(outcome(in, all.slice(1, 8)) + " " + outcome(in, other));
        }

        private static String outcome(HostTensor in, HostTensor out) {
            try {
                Collective.allReduce(in, out, ReduceOp.SUM).check(0, 2);
                return "taken";
            } catch (IllegalArgumentException refused) {
                return "refused";
            }
        }
    }
}

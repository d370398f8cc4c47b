package ferro.backend.nccl.comm;

import static ferro.backend.nccl.ffi.ForkedJvm.value;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ferro.backend.nccl.ffi.ForkedJvm;
import ferro.backend.nccl.ffi.StandIn;
import ferro.group.SystemContext;
import ferro.harness.OnThread;
import ferro.tck.BackendContract;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Every kind of call over libraries of other ages, makers and builds, each in a JVM of its own. */
@ExtendWith(StandIn.class)
class NcclLibrariesTest {
    @TempDir
    private Path folder;

    private ForkedJvm smoke(Path nccl, Path runtime) {
        return new ForkedJvm(folder)
                .program(NcclSmoke.class, SystemContext.class, BackendContract.class, OnThread.class)
                .setting("ferro.nccl.library", nccl)
                .setting("ferro.cudart.library", runtime);
    }

    private static void assertResults(List<String> lines) {
        assertEquals("[9.0, 18.0]", value(lines, "allReduce sum"), lines.toString());
        assertEquals("[4.0, 7.0]", value(lines, "reduce max"));
        assertEquals("[2.0, 5.0, 3.0, 6.0, 4.0, 7.0]", value(lines, "allGather"));
        assertEquals("[8.0, 125.0]", value(lines, "reduceScatter product"));
        assertEquals("ABORTED by [1]", value(lines, "ended"));
        assertEquals("0", value(lines, "live"));
        assertEquals("0", value(lines, "misuse"));
    }

    @Test
    @DisplayName(
            "3-38 3-39: where the library has no gather, scatter and all-to-all they are grouped sends and receives")
    void olderLibrariesGatherBySendsAndReceives() throws Exception {
        List<String> lines = smoke(StandIn.folder().resolve("old/libnccl.so.2"), StandIn.runtime())
                .run();
        assertEquals("2.7.8", value(lines, "version"));
        assertResults(lines);
        assertEquals("[2.0, 5.0, 3.0, 6.0, 4.0, 7.0]", value(lines, "gather"));
        assertEquals("[2.0, 5.0]", value(lines, "scatter"));
        assertEquals("77", value(lines, "message"));
        assertTrue(value(lines, "allReduce avg").contains("avg needs NCCL >= 2.10"), lines.toString());
    }

    @Test
    @DisplayName(
            "2-20 2-01 2-25: where the library has no send and receive, bytes are refused with what to use instead")
    void theOldestLibrariesHaveNoMessages() throws Exception {
        List<String> lines = smoke(StandIn.folder().resolve("older/libnccl.so.2"), StandIn.runtime())
                .run();
        assertResults(lines);
        String message = value(lines, "message");
        for (String token :
                List.of("does not support byte-level P2P send/recv", "use GPU-native collectives", "or TcpBackend")) {
            assertTrue(message.contains(token), message);
        }
        assertTrue(value(lines, "allToAll").contains("ncclSend and ncclRecv"), lines.toString());
    }

    @Test
    @DisplayName("2-23: RCCL over HIP runs all of it by the same code")
    void hipRunsAllOfIt() throws Exception {
        Path hip = StandIn.folder().resolve("hip");
        List<String> lines = smoke(hip.resolve("librccl.so.1"), hip.resolve("libamdhip64.so"))
                .run();
        assertResults(lines);
        assertEquals("[3.0, 6.0]", value(lines, "allReduce avg"));
        assertEquals("77", value(lines, "message"));
    }

    @Test
    @DisplayName("3-31 T13: with AddressSanitizer and UndefinedBehaviorSanitizer nothing of it is a bad access")
    void sanitizersFindNothing() throws Exception {
        Path libraries = StandIn.folder().resolve("asan");
        Path runtime = sanitizer();
        assumeTrue(Files.exists(libraries.resolve("libnccl.so.2")), "no libraries with sanitizers in " + libraries);
        List<String> lines = smoke(libraries.resolve("libnccl.so.2"), libraries.resolve("libcudart.so.12"))
                .variable("LD_PRELOAD", runtime.toString())
                .variable("ASAN_OPTIONS", "detect_leaks=0:handle_segv=0")
                .run();
        assertResults(lines);
        assertFalse(lines.stream().anyMatch(line -> line.contains("Sanitizer")), lines.toString());
    }

    /** The JVM is not built with it, so that it has to be there before everything else. */
    private static Path sanitizer() throws InterruptedException {
        try {
            Process gcc = new ProcessBuilder("gcc", "-print-file-name=libasan.so")
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            String path = new String(gcc.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
            assumeTrue(gcc.waitFor(10, TimeUnit.SECONDS) && path.startsWith("/"), "gcc has no libasan.so: " + path);
            return Path.of(path);
        } catch (IOException none) {
            assumeTrue(false, "no gcc, so no libasan.so: " + none.getMessage());
            throw new AssertionError("not reached without gcc", none);
        }
    }
}

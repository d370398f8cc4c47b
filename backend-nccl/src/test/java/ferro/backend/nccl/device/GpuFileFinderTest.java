package ferro.backend.nccl.device;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.group.SystemContext;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GpuFileFinderTest {
    @TempDir
    private Path root;

    @BeforeEach
    void plugInACardOfAnotherKind() throws IOException {
        write("sys/bus/pci/devices/0000:00:01.0/vendor", "0x8086");
    }

    @Test
    void aMachineWithoutDriverAndDeviceHasNoGpu() {
        assertTrue(GpuFileFinder.areMissing(root));
    }

    @Test
    void aDriverOrAnUnloadedDeviceIsATraceOfAGpu() throws IOException {
        for (String trace : List.of("dev/nvidiactl", "dev/dxg", "dev/kfd", "proc/driver/nvidia/version")) {
            write(trace, "");
            assertFalse(GpuFileFinder.areMissing(root), trace);
            Files.delete(root.resolve(trace));
            Files.deleteIfExists(root.resolve("proc/driver/nvidia"));
            assertTrue(GpuFileFinder.areMissing(root), trace);
        }
        write("sys/bus/pci/devices/0000:00:02.0/vendor", "0x10de");
        assertFalse(GpuFileFinder.areMissing(root));
    }

    @Test
    void aGpuIsPossibleIfTheDevicesCannotBeRead() throws IOException {
        Files.createDirectories(root.resolve("sys/bus/pci/devices/0000:00:03.0"));
        assertFalse(GpuFileFinder.areMissing(root));
        assertFalse(GpuFileFinder.areMissing(root.resolve("nowhere")));
    }

    @Test
    void librariesAreLoadedWithoutAGpuOnlyIfTheUserAsksForThem() {
        assertTrue(look(Map.of()).orElseThrow().contains("-Dferro.nccl.library"));
        assertTrue(look(Map.of("ferro.backend", "tcp")).isPresent());
        assertFalse(look(Map.of("ferro.backend", "cpu:tcp,cuda:nccl")).isPresent());
        assertFalse(look(Map.of("ferro.nccl.library", "/nowhere/libnccl.so.2")).isPresent());
        assertFalse(look(Map.of("jna.library.path", "/nowhere")).isPresent());
    }

    private Optional<String> look(Map<String, String> settings) {
        return GpuFileFinder.noneBecause(SystemContext.of(settings), root);
    }

    private void write(String file, String text) throws IOException {
        Path path = root.resolve(file);
        Files.createDirectories(path.getParent());
        Files.writeString(path, text + "\n");
    }
}

package ferro.job;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.spi.LinuxFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LinuxHostFactsTest {
    @TempDir
    private Path root;

    @Test
    void theFullHostNameIsReadFromTheHostsFile() throws IOException {
        write("proc/sys/kernel/hostname", "train-1\n");
        write(
                "hosts",
                "# train-1.comment\n127.0.0.1\tlocalhost\n10.1.2.3\ttrain-1.workers.default.svc.cluster.local\ttrain-1\n");

        assertEquals("train-1", here().hostName());
        assertEquals(Optional.of("train-1.workers.default.svc.cluster.local"), here().fullHostName());
        write("hosts", "10.1.2.3 train-1\n10.1.2.4 train-11.workers\n");
        assertEquals(Optional.empty(), here().fullHostName());
    }

    @Test
    void ancestorsAreFoundUpToTheFirstProcess() throws IOException {
        process("self", 100, 42);
        process("42", 41, 7);
        process("7", 40, 0);
        write("proc/42/cmdline", "/bin/sh\0-c\0java (odd) name\0");
        write("proc/7/cmdline", "/usr/bin/mpirun\0-n\0002\0");

        List<HostFacts.Ancestor> found = here().ancestors();

        assertEquals(List.of(42L, 7L), found.stream().map(one -> one.pid()).toList());
        assertEquals(
                List.of(41L, 40L), found.stream().map(one -> one.startTicks()).toList());
        assertEquals(
                List.of("sh", "mpirun"), found.stream().map(one -> one.name()).toList());
        Files.delete(root.resolve("proc/7/cmdline"));
        assertEquals(1, here().ancestors().size(), "one that cannot be seen ends the list");
    }

    private LinuxHostFacts here() {
        return new LinuxHostFacts(LinuxFiles.under(root), root.resolve("hosts"));
    }

    private void process(String name, long startTicks, long parent) throws IOException {
        write(
                "proc/" + name + "/stat",
                "1 (a (name) of two) S " + parent + " 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 " + startTicks + " 0 0\n");
    }

    private void write(String file, String text) throws IOException {
        Files.createDirectories(root.resolve(file).getParent());
        Files.writeString(root.resolve(file), text);
    }
}

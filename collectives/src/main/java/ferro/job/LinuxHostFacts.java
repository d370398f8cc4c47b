package ferro.job;

import ferro.spi.LinuxFiles;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The facts about a process from {@code /proc} of Linux and from {@code /etc/hosts}, in which a kubelet writes the full
 * name of a pod. No name is resolved, because name resolution may be slow.
 *
 * @param proc  files of the kernel
 * @param hosts hosts file such as {@code /etc/hosts}
 */
record LinuxHostFacts(LinuxFiles proc, Path hosts) implements HostFacts {
    /** Maximum number of ancestors that are read. Older ancestors are not needed, and a cycle is impossible. */
    private static final int MOST_ANCESTORS = 64;

    static HostFacts ofThisHost() {
        return new LinuxHostFacts(LinuxFiles.HOST, Path.of("/etc/hosts"));
    }

    @Override
    public String hostName() {
        return proc.hostName().orElse("");
    }

    @Override
    public Optional<String> fullHostName() {
        String own = hostName();
        if (own.contains(".")) {
            return Optional.of(own);
        }
        try {
            return Files.readAllLines(hosts, StandardCharsets.UTF_8).stream()
                    .map(line -> line.replaceFirst("#.*", ""))
                    .flatMap(line -> List.of(line.trim().split("\\s+")).stream().skip(1))
                    .filter(name -> !own.isEmpty() && name.startsWith(own + "."))
                    .findFirst();
        } catch (IOException noTable) {
            return Optional.empty();
        }
    }

    @Override
    public List<Ancestor> ancestors() {
        List<Ancestor> found = new ArrayList<>();
        try {
            long next = proc.stat("self").parent();
            while (next > 0 && found.size() < MOST_ANCESTORS) {
                LinuxFiles.Stat stat = proc.stat("" + next);
                found.add(new Ancestor(next, stat.startTicks(), command(next)));
                next = stat.parent();
            }
        } catch (IOException | IllegalArgumentException unseen) {
            // another process namespace, or not Linux: the ancestors found so far are returned
        }
        return found;
    }

    private List<String> command(long pid) throws IOException {
        String words = proc.text(pid + "/cmdline");
        return words.isEmpty() ? List.of() : List.of(words.split("\0"));
    }
}

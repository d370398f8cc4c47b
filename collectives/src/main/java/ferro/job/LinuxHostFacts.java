package ferro.job;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The facts from {@code /proc} of Linux (proc(5)) and from {@code /etc/hosts}, in which a kubelet writes the full name
 * of a pod. No name is resolved, because that may be slow.
 *
 * @param proc  root such as {@code /proc}
 * @param hosts table such as {@code /etc/hosts}
 */
record LinuxHostFacts(Path proc, Path hosts) implements HostFacts {
    /** Maximum number of ancestors that are read. Ancestors further up are not needed, and a cycle is impossible. */
    private static final int MOST_ANCESTORS = 64;
    /**
     * Index of a field after the command, whose name may contain blanks. The fields after the command are state,
     * parent, …; proc(5) numbers them from 3.
     */
    private static final int PARENT = 4 - 3;

    private static final int START = 22 - 3;

    static HostFacts ofThisHost() {
        return new LinuxHostFacts(Path.of("/proc"), Path.of("/etc/hosts"));
    }

    @Override
    public String hostName() {
        try {
            return Files.readString(proc.resolve("sys/kernel/hostname")).trim();
        } catch (IOException notLinux) {
            return "";
        }
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
            String[] own = fields("self");
            long next = Long.parseLong(own[PARENT]);
            while (next > 0 && found.size() < MOST_ANCESTORS) {
                String[] fields = fields("" + next);
                found.add(new Ancestor(next, Long.parseLong(fields[START]), command(next)));
                next = Long.parseLong(fields[PARENT]);
            }
        } catch (IOException | IllegalArgumentException unseen) {
            // another process namespace, or not Linux: the ancestors found so far are returned
        }
        return found;
    }

    private List<String> command(long pid) throws IOException {
        String words = Files.readString(proc.resolve(pid + "/cmdline"), StandardCharsets.ISO_8859_1);
        return words.isEmpty() ? List.of() : List.of(words.split("\0"));
    }

    private String[] fields(String process) throws IOException {
        String text = Files.readString(proc.resolve(process + "/stat"), StandardCharsets.ISO_8859_1);
        String[] fields = text.substring(text.lastIndexOf(')') + 1).trim().split("\\s+");
        if (fields.length <= START) {
            throw new IllegalArgumentException("no line of /proc/PID/stat: " + text);
        }
        return fields;
    }
}

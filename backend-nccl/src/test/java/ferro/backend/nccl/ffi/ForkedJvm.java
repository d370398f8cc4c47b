package ferro.backend.nccl.ffi;

import com.sun.jna.Native;
import ferro.FerroException;
import ferro.backend.nccl.NcclException;
import ferro.group.SystemContext;
import ferro.harness.Child;
import ferro.harness.Jvm;
import java.io.File;
import java.io.IOException;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** A JVM of its own for {@link LoadingProbe}, or another program: what a process has loaded stays, so that each pair of libraries needs one. */
public final class ForkedJvm {
    private static final int FEATURE = Runtime.version().feature();

    private final Map<String, String> settings = new TreeMap<>();
    private final List<String> options = new ArrayList<>();
    private final List<String> places = new ArrayList<>();
    private final Path folder;
    private final List<Class<?>> wanted = new ArrayList<>(
            List.of(FerroException.class, NcclException.class, SystemContext.class, LoadingProbe.class));
    private final Map<String, String> environment = new TreeMap<>();
    private Class<?> main = LoadingProbe.class;
    private boolean withJna = true;

    /**
     * Prepares one.
     *
     * @param folder it works in
     */
    public ForkedJvm(Path folder) {
        this.folder = folder;
        if (FEATURE >= 22) {
            options.add("--enable-native-access=ALL-UNNAMED");
        }
    }

    public ForkedJvm setting(String name, Object value) {
        settings.put(name, value.toString());
        return this;
    }

    ForkedJvm option(String option) {
        options.remove("--enable-native-access=ALL-UNNAMED");
        options.add(option);
        return this;
    }

    /** Runs another program than the probe, which takes its arguments in the same form. */
    public ForkedJvm program(Class<?> other, Class<?>... onItsClassPath) {
        main = other;
        wanted.addAll(List.of(onItsClassPath));
        return this;
    }

    public ForkedJvm variable(String name, String value) {
        environment.put(name, value);
        return this;
    }

    ForkedJvm onClassPath(Path identity) {
        places.add(identity.toString());
        return this;
    }

    ForkedJvm withoutJna() {
        withJna = false;
        return this;
    }

    /** Runs the probe and returns what it says, line by line: {@code what: value}. */
    public List<String> run(String... steps) throws IOException, InterruptedException, URISyntaxException {
        List<String> command = Jvm.line(classPath(), options, main.getName());
        settings.forEach((name, value) -> command.add(name + "=" + value));
        command.addAll(List.of(steps));
        ProcessBuilder builder = new ProcessBuilder(command).directory(folder.toFile());
        builder.environment().remove("LD_LIBRARY_PATH");
        builder.environment().putAll(environment);
        return Child.run(0, builder).lines().toList();
    }

    /** Returns what a line says of something. */
    public static String value(List<String> lines, String name) {
        return lines.stream()
                .filter(line -> line.startsWith(name + ": "))
                .map(line -> line.substring(name.length() + 2))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no " + name + " in " + lines));
    }

    private String classPath() throws URISyntaxException {
        if (withJna) {
            wanted.add(Native.class);
        }
        List<String> all = new ArrayList<>(places);
        for (Class<?> type : wanted) {
            all.add(placeOf(type).toString());
        }
        return all.stream().distinct().collect(Collectors.joining(File.pathSeparator));
    }

    /** A patched module names one place for all its classes, so the class file itself is asked. */
    private static Path placeOf(Class<?> type) throws URISyntaxException {
        URL file = type.getResource(type.getSimpleName() + ".class");
        String text = file.toString();
        String inside = type.getName().replace('.', '/') + ".class";
        if (text.startsWith("jar:")) {
            return Path.of(new java.net.URI(text.substring("jar:".length(), text.indexOf('!'))));
        }
        Path path = Path.of(file.toURI());
        for (int i = 0; i < inside.split("/").length; i++) {
            path = path.getParent();
        }
        return path;
    }
}

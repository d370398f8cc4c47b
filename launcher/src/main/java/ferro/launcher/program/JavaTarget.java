package ferro.launcher.program;

import ferro.launcher.input.BadInputException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.jar.Attributes;
import java.util.jar.JarFile;
import java.util.jar.Manifest;
import java.util.regex.Pattern;

/**
 * A Java program: a main class on a class path.
 *
 * @param mainClass       name of the main class
 * @param settings        class path and flags
 * @param arguments       arguments of the program
 * @param saysWhatIsWrong whether ranks with bad input end with exit code 2 and rank 0 prints why, as in programs of
 *     ferro
 */
public record JavaTarget(String mainClass, JavaSettings settings, List<String> arguments, boolean saysWhatIsWrong)
        implements LaunchTarget {
    private static final Pattern CLASS_NAME =
            Pattern.compile("[\\p{L}_$][\\p{L}\\p{N}_$]*(\\.[\\p{L}_$][\\p{L}\\p{N}_$]*)*");

    /** Reads the words after the options: a source file, a jar or a main class, and then its arguments. */
    public static LaunchTarget of(List<String> words, JavaSettings settings) {
        if (words.isEmpty()) {
            throw new BadInputException("nothing to run: found " + words.size()
                    + " words after the options, need Main.java, app.jar, a main class, or -- and any command");
        }
        String what = words.get(0);
        List<String> arguments = List.copyOf(words.subList(1, words.size()));
        if (what.endsWith(".java")) {
            return new SourceTarget(existing(what), settings, arguments);
        }
        if (what.endsWith(".jar")) {
            Path jar = existing(what);
            return new JavaTarget(mainClassOf(jar), settings.withJar(jar), arguments, false);
        }
        return ofMainClass(what, settings, arguments, false);
    }

    /** Creates a target for a main class of ferro: the demo or the benchmark. */
    public static LaunchTarget ofFerro(String mainClass, List<String> arguments, JavaSettings settings) {
        return ofMainClass(mainClass, settings, arguments, true);
    }

    private static JavaTarget ofMainClass(String name, JavaSettings settings, List<String> arguments, boolean ofFerro) {
        if (!CLASS_NAME.matcher(name).matches() || !settings.classPath().holds(name.replace('.', '/') + ".class")) {
            throw new BadInputException(
                    "main class \"" + name + "\" not found in " + settings.program() + " or in ferro's"
                            + " own jars: name a class path with -cp, or put -- before it if it is a command");
        }
        return new JavaTarget(name, settings, List.copyOf(arguments), ofFerro);
    }

    private static Path existing(String file) {
        Path path = Path.of(file);
        if (!Files.isRegularFile(path)) {
            throw new BadInputException("file " + path.toAbsolutePath() + " not found");
        }
        return path.toAbsolutePath();
    }

    private static String mainClassOf(Path jar) {
        try (JarFile file = new JarFile(jar.toFile())) {
            Manifest manifest = file.getManifest();
            String name = manifest == null ? null : manifest.getMainAttributes().getValue(Attributes.Name.MAIN_CLASS);
            if (name == null) {
                throw new BadInputException(jar + " names no Main-Class in its manifest: run it with -cp " + jar
                        + " and the name of the main class");
            }
            return name.trim();
        } catch (IOException unreadable) {
            throw new BadInputException(jar + " cannot be read as a jar (" + unreadable.getMessage() + ")", unreadable);
        }
    }

    @Override
    public List<String> commandLine(Path folder, boolean few) {
        NameEncodingCheck.check("temporary folder", folder.toString());
        return settings.inFolder(folder).commandLine(few, mainClass, arguments);
    }

    @Override
    public Optional<JavaSettings> java() {
        return Optional.of(settings);
    }
}

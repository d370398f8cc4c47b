package ferro.templates;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.spi.ToolProvider;

/** Runs {@code src/main/templates/Expand.java}, which is not a class of the product. */
final class Expander {
    static final Path TEMPLATES = Path.of("src/main/templates");

    private final Path classes;

    /** Compiles it into a folder. */
    Expander(Path classes) {
        this.classes = classes;
        ToolProvider javac = ToolProvider.findFirst("javac").orElseThrow();
        int status = javac.run(
                System.out,
                System.err,
                "-d",
                classes.toString(),
                TEMPLATES.resolve("Expand.java").toString());
        if (status != 0) {
            throw new IllegalStateException("javac ended with status " + status + " on " + TEMPLATES.toAbsolutePath());
        }
    }

    /** Expands a template into a folder of sources. */
    void expand(Path template, Path sources) {
        try (URLClassLoader loader =
                URLClassLoader.newInstance(new URL[] {classes.toUri().toURL()})) {
            Method main = loader.loadClass("Expand").getDeclaredMethod("main", String[].class);
            main.setAccessible(true);
            main.invoke(null, (Object) new String[] {sources.toString(), template.toString()});
        } catch (InvocationTargetException failed) {
            if (failed.getCause() instanceof RuntimeException known) {
                throw known;
            }
            throw new IllegalStateException("cannot expand " + template, failed.getCause());
        } catch (ReflectiveOperationException missing) {
            throw new IllegalStateException("no main in " + classes, missing);
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }
}

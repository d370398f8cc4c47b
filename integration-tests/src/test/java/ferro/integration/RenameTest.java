package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.integration.ConfigProgram.Run;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code config/rename/Rename.java}, which renames declarations with all their uses. */
@Timeout(150)
@Tag("long")
class RenameTest extends PlantedCheckout {
    private static final String SHAPE = """
            package a.old;

            import java.util.function.IntSupplier;

            /** A shape, such as {@link Square}; {@link #settle()} and {@link Square#settle} decide. */
            public sealed interface Shape permits Square, Shape.Dot {
                int MOST = 3;

                /**
                 * Decides.
                 *
                 * @param room for that many
                 */
                void settle(int room);

                void settle();

                record Dot(int place) implements Shape {
                    public Dot {
                        if (place < 0) {
                            throw new IllegalArgumentException("place " + place);
                        }
                    }

                    @Override
                    public void settle(int room) {
                        IntSupplier supplier = this::place;
                        Runnable call = this::settle;
                        call.run();
                    }

                    @Override
                    public void settle() {}
                }
            }
            """;

    private static final String SQUARE = """
            package a.old;

            import static a.old.Shape.MOST;

            /**
             * A square.
             *
             * @see Shape#settle(int)
             * @see a.old.Shape.Dot#place()
             */
            final class Square extends Base implements Shape {
                private int place;

                Square(int place) {
                    this.place = place + MOST;
                }

                @Override
                public void settle() {
                    int room = new Dot(1).place();
                    Shape anonymous = null;
                    Runnable task = () -> System.out.println(room + this.place);
                }
            }

            class Base {
                public void settle(int room) {}

                void unrelated() {
                    int settle = 0;
                }
            }
            """;

    private static final String USE = """
            package b;

            import a.old.Shape;
            import a.old.Shape.Dot;

            class ShapeUse {
                String place = "Shape";

                int use(Shape shape) {
                    shape.settle(1);
                    return shape instanceof Dot dot ? dot.place() : 0;
                }
            }
            """;

    private static final String MODULE =
            "module a.old {\n    exports a.old;\n    provides a.old.Shape with a.old.Shape.Dot;\n}\n";

    private static final String NEW_SHAPE = SHAPE.replace("a.old", "a.fresh")
            .replace("interface Shape", "interface Figure")
            .replace("Shape.Dot", "Figure.Dot")
            .replace("implements Shape", "implements Figure")
            .replace("settle", "decide")
            .replace("MOST", "MAX")
            .replace("int place", "int position")
            .replace("place <", "position <")
            .replace("\" + place", "\" + position")
            .replace("::place", "::position");
    private static final String NEW_SQUARE = SQUARE.replace("a.old", "a.fresh")
            .replace("Shape", "Figure")
            .replace("settle(", "decide(")
            .replace("MOST", "MAX")
            .replace("private int place", "private int offset")
            .replace("this.place", "this.offset")
            .replace("place()", "position()")
            .replace("int room =", "int buffer =")
            .replace("room +", "buffer +");
    private static final String NEW_USE = USE.replace("a.old", "a.fresh")
            .replace("Shape;", "Figure;")
            .replace("Shape.", "Figure.")
            .replace("Shape shape", "Figure shape")
            .replace("settle", "decide")
            .replace("place()", "position()");
    private static final String NEW_MODULE = MODULE.replace("a.old", "a.fresh")
            .replace("module a.fresh", "module a.old")
            .replace("Shape", "Figure");

    @TempDir
    private static Path classes;

    private static ConfigProgram rename;

    @BeforeAll
    static void compile() {
        rename = ConfigProgram.compile("config/rename/Rename.java", classes);
    }

    @Test
    void everyUseHasTheNewName() throws Exception {
        writeCheckout();

        Run run = run("""
                # comment
                a.old.Shape -> Figure
                a.old.Shape#settle -> decide
                a.old.Shape#MOST -> MAX
                a.old.Shape.Dot#place -> position
                a.old.Square#settle/room -> buffer
                a.old.Square#place -> offset
                a.old -> fresh
                """);

        assertEquals(0, run.exit(), run::text);
        assertEquals(NEW_SHAPE, read("one/src/main/java/a/fresh/Figure.java"));
        assertEquals(NEW_SQUARE, read("one/src/main/java/a/fresh/Square.java"));
        assertEquals(NEW_USE, read("two/src/test/java/b/ShapeUse.java"));
        assertEquals(NEW_MODULE, read("one/src/main/java/module-info.java"));
        assertFalse(Files.exists(folder.resolve("one/src/main/java/a/old")));
        assertTrue(run.text().contains("two/src/test/java/b/ShapeUse.java:7: String place = \"Shape\";"), run::text);
        assertTrue(
                run.text().contains("one/src/main/resources/META-INF/services/a.old.Shape:1: a.old.Shape.Dot"),
                run::text);
    }

    @Test
    void aNameThatWouldMeanSomethingElseIsRefusedAndFilesStayAsTheyAre() throws Exception {
        writeCheckout();
        Map<String, String> before = files();

        // the parameter of the constructor hides the field then
        Run run = run("a.old.Shape#MOST -> place\n");

        assertEquals(1, run.exit(), run::text);
        assertTrue(run.text().contains("one/src/main/java/a/old/Square.java:15: a name means "), run::text);
        assertEquals(before, files());
    }

    @Test
    void aDryRunLeavesFilesAsTheyAre() throws Exception {
        writeCheckout();
        Map<String, String> before = files();

        Run run = run("--dry", "a.old.Shape -> Figure\na.old -> fresh\n");

        assertEquals(0, run.exit(), run::text);
        assertEquals("22 uses in 4 files, 2 files with new names", run.printed().get(0), run::text);
        assertEquals(before, files());
    }

    @Test
    void whatCannotBeRenamedIsListedBeforeAnythingChanges() throws Exception {
        writeCheckout();
        Map<String, String> before = files();

        Run run = run("""
                a.old.Nothing -> Something
                a.old.Shape#nothing -> something
                a.old.Shape -> Square
                """);
        assertEquals(2, run.exit(), run::text);
        assertTrue(run.text().contains("no type or package a.old.Nothing in the sources"), run::text);
        assertTrue(run.text().contains("found no such declaration: a.old.Shape#nothing"), run::text);
        assertTrue(run.text().contains("a.old.Square exists already"), run::text);

        write(
                "one/src/main/java/a/old/Task.java",
                "package a.old; class Task implements Runnable { public void run() {} }");
        before = files();
        Run library = run("a.old.Task#run -> execute\n");
        assertEquals(2, library.exit(), library::text);
        assertTrue(library.text().contains("it overrides java.lang.Runnable.run() of a library"), library::text);
        assertEquals(before, files());
    }

    private Run run(String... arguments) throws IOException, InterruptedException {
        write("renames.txt", arguments[arguments.length - 1]);
        return arguments.length == 1
                ? rename.run(folder, "renames.txt")
                : rename.run(folder, arguments[0], "renames.txt");
    }

    private void writeCheckout() throws IOException {
        write("pom.xml", "<project/>");
        write("target/rename.cp", "");
        write("one/src/main/java/a/old/Shape.java", SHAPE);
        write("one/src/main/java/a/old/Square.java", SQUARE);
        write("one/src/main/java/module-info.java", MODULE);
        write("one/src/main/resources/META-INF/services/a.old.Shape", "a.old.Shape.Dot");
        write("two/src/test/java/b/ShapeUse.java", USE);
    }

    private Map<String, String> files() throws IOException {
        Map<String, String> files = new TreeMap<>();
        try (Stream<Path> all = Files.walk(folder)) {
            for (Path file : all.filter(Files::isRegularFile).toList()) {
                if (!file.endsWith("renames.txt")) {
                    files.put(folder.relativize(file).toString(), Files.readString(file));
                }
            }
        }
        return files;
    }

    private String read(String path) throws IOException {
        return Files.readString(folder.resolve(path));
    }
}

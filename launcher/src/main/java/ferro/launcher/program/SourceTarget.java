package ferro.launcher.program;

import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.Tree;
import com.sun.source.util.JavacTask;
import ferro.launcher.input.BadInputException;
import ferro.launcher.input.DescriptorCheck;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.StandardLocation;
import javax.tools.ToolProvider;

/**
 * A target of one source file whose first class has a main method, as for {@code java Main.java}.
 *
 * <p>The launcher compiles the file once, so that not every rank compiles the file at the same time. On two cores, four
 * compilers take longer than the program. An error in the source is printed once, before any rank starts.
 *
 * @param file      absolute path of the source file
 * @param settings  class path and flags
 * @param arguments arguments of the program
 */
record SourceTarget(Path file, JavaSettings settings, List<String> arguments) implements LaunchTarget {
    @Override
    public List<String> commandLine(Path folder, boolean few) throws IOException {
        NameEncodingCheck.check("temporary folder", folder.toString());
        Path classes = Files.createDirectory(folder.resolve("classes"));
        String mainClass = compile(classes);
        ClassPath path = settings.program().behind(ClassPath.parse(classes.toString()));
        return settings.withProgram(path).inFolder(folder).commandLine(few, mainClass, arguments);
    }

    @Override
    public Optional<JavaSettings> java() {
        return Optional.of(settings);
    }

    private String compile(Path classes) throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        if (compiler == null) {
            throw new BadInputException("cannot compile " + file + ": " + System.getProperty("java.home")
                    + " is a Java without a compiler: set"
                    + " JAVA_HOME to a JDK, or compile the program and name its main class or jar");
        }
        DescriptorCheck.ofThisProcess()
                .checkCompiler(file, DescriptorCheck.jarsOn(settings.classPath().toString()));
        DiagnosticCollector<JavaFileObject> found = new DiagnosticCollector<>();
        List<String> options =
                List.of("-proc:none", "-g", "-cp", settings.classPath().toString(), "-d", classes.toString());
        try (StandardJavaFileManager files = compiler.getStandardFileManager(found, null, null)) {
            var task = (JavacTask) compiler.getTask(null, files, found, options, null, List.of(new SourceFile(file)));
            Iterable<? extends CompilationUnitTree> parsed = task.parse();
            refuse(found);
            CompilationUnitTree unit = parsed.iterator().next();
            files.setLocationFromPaths(StandardLocation.SOURCE_PATH, List.of(sourceRoot(unit)));
            task.generate();
            refuse(found);
            return firstClass(unit);
        }
    }

    private void refuse(DiagnosticCollector<JavaFileObject> found) {
        List<String> errors = found.getDiagnostics().stream()
                .filter(one -> one.getKind() == Diagnostic.Kind.ERROR)
                .map(Object::toString)
                .toList();
        if (!errors.isEmpty()) {
            throw new BadInputException(file + " does not compile:\n" + String.join("\n", errors));
        }
    }

    /** Returns the folder in which the compiler finds other classes of the same source tree. */
    private Path sourceRoot(CompilationUnitTree unit) {
        Path root = file.getParent();
        for (String rest = packageOf(unit); !rest.isEmpty() && root.getParent() != null; rest = parent(rest)) {
            root = root.getParent();
        }
        return root;
    }

    private static String parent(String packageName) {
        return packageName.contains(".") ? packageName.substring(0, packageName.lastIndexOf('.')) : "";
    }

    private static String packageOf(CompilationUnitTree unit) {
        return unit.getPackageName() == null ? "" : unit.getPackageName().toString();
    }

    private String firstClass(CompilationUnitTree unit) {
        String prefix = packageOf(unit).isEmpty() ? "" : packageOf(unit) + ".";
        for (Tree declared : unit.getTypeDecls()) {
            if (declared instanceof ClassTree type) {
                return prefix + type.getSimpleName();
            }
        }
        throw new BadInputException(file + " declares no class");
    }

    /** The source file under a name that is valid for any class in it, because {@code java Main.java} allows this. */
    private static final class SourceFile extends SimpleJavaFileObject {
        private final Path file;

        SourceFile(Path file) {
            super(file.toUri(), Kind.SOURCE);
            this.file = file;
        }

        @Override
        public boolean isNameCompatible(String simpleName, Kind kind) {
            return kind == Kind.SOURCE;
        }

        @Override
        public CharSequence getCharContent(boolean ignoreEncodingErrors) throws IOException {
            return Files.readString(file);
        }
    }
}

package ferro.integration;

import com.sun.source.tree.AnnotationTree;
import com.sun.source.tree.AssignmentTree;
import com.sun.source.tree.BinaryTree;
import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.ExpressionTree;
import com.sun.source.tree.LiteralTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.ModifiersTree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.TreeScanner;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/** The simple names of all top-level types, and by {@code TestClass#method} the ids that each {@code @DisplayName} names. */
public record NamedTests(Set<String> types, Map<String, Set<String>> idsByTest) {
    private static final Pattern REQUIREMENT = Pattern.compile(
            "\\b[0-3]-\\d\\d\\b|\\bT\\d{1,2}\\b|\\bdecision \\d{1,2}\\b|\\bREQ-\\d\\b|\\btest_\\w+|\\bgpu_\\w+_in_single_rank_mode\\b");

    /** Reads the checkout at this folder; test classes that libraries publish (the kit's) stand under main. */
    static NamedTests of(Path checkout) throws IOException {
        return of(checkout, REQUIREMENT);
    }

    public static NamedTests of(Path checkout, Pattern id) throws IOException {
        List<Path> sources = sources(checkout);
        Set<String> types = sources.stream().map(NamedTests::typeName).collect(Collectors.toCollection(TreeSet::new));
        Map<String, Set<String>> found = new TreeMap<>();
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
            List<Path> named = sources.stream().filter(NamedTests::namesATest).toList();
            if (!named.isEmpty()) {
                JavacTask task = (JavacTask)
                        compiler.getTask(null, files, null, null, null, files.getJavaFileObjectsFromPaths(named));
                for (CompilationUnitTree unit : task.parse()) {
                    new MethodScanner(typeName(Path.of(unit.getSourceFile().toUri())), id, found).scan(unit, null);
                }
            }
        }
        return new NamedTests(types, found);
    }

    /** Tests whose names have this id: first those of the class itself, then those that name few others. */
    public List<String> naming(String id, String type) {
        Comparator<String> ofTheClass = Comparator.comparing(test -> !test.startsWith(type));
        return idsByTest.entrySet().stream()
                .filter(test -> test.getValue().contains(id))
                .map(Map.Entry::getKey)
                .sorted(ofTheClass
                        .thenComparing(test -> idsByTest.get(test).size())
                        .thenComparing(Comparator.naturalOrder()))
                .toList();
    }

    boolean names(String test, String id) {
        return idsByTest.getOrDefault(test, Set.of()).contains(id);
    }

    public static List<Path> sources(Path checkout) throws IOException {
        try (Stream<Path> modules = Files.list(checkout)) {
            List<Path> roots = modules.flatMap(
                            module -> Stream.of("src/main/java", "target/generated-sources/templates", "src/test/java")
                                    .map(module::resolve))
                    .filter(Files::isDirectory)
                    .sorted()
                    .toList();
            List<Path> all = new ArrayList<>();
            for (Path root : roots) {
                try (Stream<Path> files = Files.walk(root)) {
                    files.filter(file -> file.toString().endsWith(".java")).forEach(all::add);
                }
            }
            return all;
        }
    }

    private static String typeName(Path file) {
        return file.getFileName().toString().replaceFirst("\\.java$", "");
    }

    private static boolean namesATest(Path file) {
        try {
            return Files.readString(file).contains("@DisplayName");
        } catch (IOException unreadable) {
            throw new IllegalStateException("cannot read " + file, unreadable);
        }
    }

    private static final class MethodScanner extends TreeScanner<Void, Void> {
        private static final Set<String> RUNS = Set.of("Test", "ParameterizedTest", "RepeatedTest", "TestFactory");
        private static final Set<String> OFF = Set.of("Disabled");

        private final String type;
        private final Pattern id;
        private final Map<String, Set<String>> found;

        MethodScanner(String type, Pattern id, Map<String, Set<String>> found) {
            this.type = type;
            this.id = id;
            this.found = found;
        }

        /** What is switched off shows nothing, whatever its methods are called. */
        @Override
        public Void visitClass(ClassTree type, Void none) {
            return has(type.getModifiers(), OFF) ? null : super.visitClass(type, none);
        }

        @Override
        public Void visitMethod(MethodTree method, Void none) {
            if (!has(method.getModifiers(), RUNS) || has(method.getModifiers(), OFF)) {
                return null;
            }
            for (AnnotationTree annotation : method.getModifiers().getAnnotations()) {
                if (annotation.getAnnotationType().toString().equals("DisplayName")) {
                    add(method.getName().toString(), annotation.getArguments().get(0));
                }
            }
            return super.visitMethod(method, none);
        }

        private static boolean has(ModifiersTree modifiers, Set<String> names) {
            return modifiers.getAnnotations().stream()
                    .anyMatch(each -> names.contains(each.getAnnotationType().toString()));
        }

        private void add(String method, ExpressionTree argument) {
            String text = argument instanceof AssignmentTree value ? text(value.getExpression()) : text(argument);
            Set<String> ids = found.computeIfAbsent(type + "#" + method, key -> new TreeSet<>());
            id.matcher(text).results().map(MatchResult::group).forEach(ids::add);
        }

        private static String text(ExpressionTree expression) {
            if (expression instanceof BinaryTree sum) {
                return text(sum.getLeftOperand()) + text(sum.getRightOperand());
            }
            return expression instanceof LiteralTree literal ? "" + literal.getValue() : "";
        }
    }
}

package ferro.integration.ci;

import com.sun.source.tree.AnnotationTree;
import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.Tree;
import com.sun.source.util.JavacTask;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import javax.lang.model.element.Modifier;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/**
 * The test methods that source files declare. Nested types are not read: Surefire does not run them.
 *
 * @param methods names of test methods, by the full name of the type that declares them
 * @param supertypes direct supertypes, by type
 * @param concrete types of test sources that can be instantiated; those of the kit are extended by other modules
 */
record DeclaredTests(Map<String, Set<String>> methods, Map<String, Set<String>> supertypes, Set<String> concrete) {
    /** JUnit's, Jazzer's and the kit's annotations that mark a method as a test. */
    private static final Set<String> MARKS =
            Set.of("Test", "ParameterizedTest", "RepeatedTest", "TestFactory", "FuzzTest", "Rule");

    /** Parses source files; the test methods of interfaces and abstract classes count too. */
    static DeclaredTests of(List<Path> sources) throws IOException {
        DeclaredTests declared = new DeclaredTests(new TreeMap<>(), new HashMap<>(), new TreeSet<>());
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
            JavacTask task = (JavacTask)
                    compiler.getTask(null, files, null, null, null, files.getJavaFileObjectsFromPaths(sources));
            for (CompilationUnitTree unit : task.parse()) {
                for (Tree type : unit.getTypeDecls()) {
                    if (type instanceof ClassTree tree) {
                        declared.add(unit, tree);
                    }
                }
            }
        }
        return declared;
    }

    private void add(CompilationUnitTree unit, ClassTree type) {
        String name = unit.getPackageName() + "." + type.getSimpleName();
        Set<String> parents = new HashSet<>();
        if (type.getExtendsClause() != null) {
            parents.add(resolved(unit, type.getExtendsClause()));
        }
        type.getImplementsClause().forEach(each -> parents.add(resolved(unit, each)));
        supertypes.put(name, parents);
        boolean isAbstract = type.getModifiers().getFlags().contains(Modifier.ABSTRACT);
        boolean isOfTests = unit.getSourceFile().toUri().getPath().contains("/src/test/");
        if (type.getKind() == Tree.Kind.CLASS && !isAbstract && isOfTests) {
            concrete.add(name);
        }
        for (Tree member : type.getMembers()) {
            if (member instanceof MethodTree method && isTest(method)) {
                methods.computeIfAbsent(name, key -> new TreeSet<>())
                        .add(method.getName().toString());
            }
        }
    }

    private static boolean isTest(MethodTree method) {
        return method.getModifiers().getAnnotations().stream()
                .map(AnnotationTree::getAnnotationType)
                .anyMatch(type -> MARKS.contains(type.toString()));
    }

    /** Returns the full name of a supertype: that of an import, else that of a type in the same package. */
    private static String resolved(CompilationUnitTree unit, Tree supertype) {
        String name = supertype.toString().replaceAll("<.*", "");
        return unit.getImports().stream()
                .map(each -> each.getQualifiedIdentifier().toString())
                .filter(each -> each.endsWith("." + name))
                .findFirst()
                .orElse(unit.getPackageName() + "." + name);
    }

    Set<String> withSupertypes(String type) {
        Set<String> all = new LinkedHashSet<>();
        collect(type, all);
        return all;
    }

    private void collect(String type, Set<String> into) {
        if (into.add(type)) {
            supertypes.getOrDefault(type, Set.of()).forEach(parent -> collect(parent, into));
        }
    }

    /** Returns the concrete types that declare or inherit a test method. */
    Set<String> testClasses() {
        return concrete.stream()
                .filter(type -> withSupertypes(type).stream().anyMatch(methods::containsKey))
                .collect(Collectors.toCollection(TreeSet::new));
    }
}

package ferro.integration.api;

import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.ModifiersTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.VariableTree;
import com.sun.source.util.JavacTask;
import ferro.integration.MainSources;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.lang.model.element.Modifier;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/** The types and members of the API, as source files declare them. */
public final class ApiSources {
    /** The modules ferro-spark and ferro-lightgbm-spark have no descriptor, because Spark has none. */
    private static final Set<String> ON_SPARK = Set.of("ferro.spark", "ferro.lightgbm.spark");

    private static final Pattern EXPORTS = Pattern.compile("exports ([a-z.]+);");

    /** The folders of {@link MainSources}. */
    private static final Pattern ROOT =
            Pattern.compile("\\.(src\\.main\\.java|target\\.generated-sources\\.templates)\\.");

    private final List<ApiRecord> records = new ArrayList<>();
    private final List<Value> values = new ArrayList<>();
    private final List<Value> texts = new ArrayList<>();

    /** A public record; its name has its outer types and its package. */
    record ApiRecord(String name, int components) {}

    /** A number or a text that a method takes or returns, or that a record has. */
    record Value(String member, String name) {}

    private ApiSources() {}

    static ApiSources ofProduct() throws IOException {
        Set<String> exported = exportedPackages();
        List<Path> sources = new ArrayList<>();
        for (Path file : MainSources.of(module -> true)) {
            if (exported.contains(packageOf(file)) && !file.endsWith("package-info.java")) {
                sources.add(file);
            }
        }
        return of(sources);
    }

    static ApiSources of(List<Path> sources) throws IOException {
        ApiSources api = new ApiSources();
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
            JavacTask task = (JavacTask)
                    compiler.getTask(null, files, null, null, null, files.getJavaFileObjectsFromPaths(sources));
            for (CompilationUnitTree unit : task.parse()) {
                for (Tree type : unit.getTypeDecls()) {
                    if (type instanceof ClassTree tree && isPublic(tree.getModifiers(), false)) {
                        api.add(unit.getPackageName().toString(), tree);
                    }
                }
            }
        }
        return api;
    }

    public static Set<String> exportedPackages() throws IOException {
        Set<String> exported = new TreeSet<>(ON_SPARK);
        for (Path file : MainSources.of(module -> true)) {
            if (file.endsWith("module-info.java")) {
                Matcher exports = EXPORTS.matcher(Files.readString(file));
                while (exports.find()) {
                    exported.add(exports.group(1));
                }
            }
        }
        return exported;
    }

    List<ApiRecord> records() {
        return records;
    }

    List<Value> values() {
        return values;
    }

    List<Value> texts() {
        return texts;
    }

    private void add(String outer, ClassTree type) {
        String name = outer + "." + type.getSimpleName();
        boolean isRecord = type.getKind() == Tree.Kind.RECORD;
        boolean isInterface = type.getKind() == Tree.Kind.INTERFACE;
        int components = 0;
        for (Tree member : type.getMembers()) {
            if (member instanceof ClassTree nested && isPublic(nested.getModifiers(), isInterface)) {
                add(name, nested);
            } else if (member instanceof MethodTree method && isPublic(method.getModifiers(), isInterface)) {
                addValues(name, method);
            } else if (isRecord
                    && member instanceof VariableTree field
                    && !field.getModifiers().getFlags().contains(Modifier.STATIC)) {
                components++;
                addValue(name, field.getType(), field.getName().toString());
            }
        }
        if (isRecord) {
            records.add(new ApiRecord(name, components));
        }
    }

    private void addValues(String type, MethodTree method) {
        String name = method.getName().toString();
        String member = type + "." + name;
        method.getParameters()
                .forEach(each -> addValue(member, each.getType(), each.getName().toString()));
        if (method.getReturnType() != null) {
            addValue(member, method.getReturnType(), name);
        }
    }

    private void addValue(String member, Tree type, String name) {
        if (Set.of("int", "long", "double", "float").contains(type.toString())) {
            values.add(new Value(member, name));
        } else if (type.toString().equals("String")) {
            texts.add(new Value(member, name));
        }
    }

    private static boolean isPublic(ModifiersTree modifiers, boolean inInterface) {
        Set<Modifier> flags = modifiers.getFlags();
        return flags.contains(Modifier.PUBLIC)
                || flags.contains(Modifier.PROTECTED)
                || inInterface && !flags.contains(Modifier.PRIVATE);
    }

    static String packageOf(Path file) {
        Path parent = file.getParent();
        String path = parent.toString().replace(parent.getFileSystem().getSeparator(), ".");
        Matcher root = ROOT.matcher(path);
        return root.find() ? path.substring(root.end()) : "";
    }
}

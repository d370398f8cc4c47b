import com.sun.source.doctree.DocCommentTree;
import com.sun.source.doctree.DocTree;
import com.sun.source.doctree.ParamTree;
import com.sun.source.doctree.ReferenceTree;
import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.IdentifierTree;
import com.sun.source.tree.ImportTree;
import com.sun.source.tree.MemberReferenceTree;
import com.sun.source.tree.MemberSelectTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.VariableTree;
import com.sun.source.util.DocSourcePositions;
import com.sun.source.util.DocTreePath;
import com.sun.source.util.DocTreePathScanner;
import com.sun.source.util.DocTrees;
import com.sun.source.util.JavacTask;
import com.sun.source.util.TreePath;
import com.sun.source.util.TreePathScanner;
import java.io.File;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.lang.model.element.Element;
import javax.lang.model.element.ElementKind;
import javax.lang.model.element.ExecutableElement;
import javax.lang.model.element.PackageElement;
import javax.lang.model.element.TypeElement;
import javax.lang.model.type.DeclaredType;
import javax.lang.model.type.TypeMirror;
import javax.lang.model.util.ElementFilter;
import javax.tools.Diagnostic;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/**
 * Renames types, members, locals and packages in all Java sources of the checkout that it is started in:
 *
 * <pre>
 * mvn -B -o -q test-compile dependency:build-classpath -Dmdep.outputFile=target/rename.cp -Dferro.quick -Pdjl,lightgbm,spark,lightgbm-spark,fuzz
 * java config/rename/Rename.java [--dry] RENAMES
 * </pre>
 *
 * <p>The first command writes which libraries each module needs, and is repeated only when a library is added. RENAMES is a
 * file with one rename a line, {@code old -> new}; a line that begins with a number sign is a comment. The new name is always
 * a simple one. The old name is one of:
 *
 * <ul>
 * <li>{@code a.b.Type} or {@code a.b.Type.Nested}. A file with the type's name is renamed too.
 * <li>{@code a.b.Type#member}: a field, an enum constant, a record component with its accessor, or a method with all its
 *     overloads, and all methods that one of these overrides or is overridden by.
 * <li>{@code a.b.Type#member(int,String)}: one overload; types as in the source, without type arguments.
 * <li>{@code a.b.Type#method/local}: parameters and locals of this name in a method or in the initializer of a field, lambdas
 *     and anonymous classes inside it too. A constructor is {@code <init>}.
 * <li>{@code a.b.pack}: the last part of a package's name, for the packages inside it too. Their folders move.
 * </ul>
 *
 * <p>Every use is resolved by javac: in code, in imports, in module-info and in the references of Javadoc. All modules are
 * compiled as one, with what the build has generated in target/generated-sources. After the renames the sources are resolved
 * again; a use that now means another declaration is an error, and the files are put back. {@code --dry} puts them back
 * always.
 *
 * <p>The program prints what it cannot see: places in texts, strings, comments, pages and other files that still have an old
 * name. Look at them by hand.
 */
final class Rename {
    private static final Pattern WORD = Pattern.compile("[A-Za-z_$][A-Za-z0-9_$]*");
    private static final Set<String> READ_AS_TEXT = Set.of(
            "java", "md", "csv", "xml", "json", "properties", "txt", "sh", "template", "yaml", "yml", "sbatch", "");

    private final List<Wanted> wanted = new ArrayList<>();
    private final Path renames;
    private final String classPath;
    /** What files had before; a file that this program made has null. */
    private final Map<Path, String> before = new LinkedHashMap<>();

    /** One line of the file of renames; member, parameters and local are null where the line has none. */
    private record Wanted(String line, String owner, String member, String parameters, String local, String name) {
        static Wanted of(String line) {
            Matcher parts = Pattern.compile("([\\w.]+)(?:#([\\w<>]+)(?:\\(([^)]*)\\))?(?:/(\\w+))?)? -> (\\w+)")
                    .matcher(line.strip());
            if (!parts.matches()) {
                throw new IllegalArgumentException("cannot read a rename: " + line + "; need a.b.Type#member -> name");
            }
            String parameters = parts.group(3) == null ? null : parts.group(3).replace(" ", "");
            return new Wanted(line.strip(), parts.group(1), parts.group(2), parameters, parts.group(4), parts.group(5));
        }

        String oldName() {
            return local != null ? local : member != null ? member : owner.substring(owner.lastIndexOf('.') + 1);
        }
    }

    private record Edit(int from, int to, String name) {}

    private Rename(Path renames, String classPath) throws IOException {
        this.renames = renames.toAbsolutePath().normalize();
        Files.readAllLines(renames).stream()
                .filter(line -> !line.isBlank() && !line.startsWith("#"))
                .map(Wanted::of)
                .forEach(wanted::add);
        this.classPath = classPath;
    }

    public static void main(String[] arguments) throws IOException {
        List<String> left = new ArrayList<>(List.of(arguments));
        boolean dry = left.remove("--dry");
        if (left.size() != 1) {
            throw new IllegalArgumentException("need a file of renames, found " + left);
        }
        try {
            System.exit(new Rename(Path.of(left.get(0)), libraries()).run(dry));
        } catch (IllegalArgumentException problem) {
            System.out.println(problem.getMessage());
            System.exit(2);
        }
    }

    /** Returns the jars of libraries of all modules; a module of ours stands there as a folder. */
    private static String libraries() throws IOException {
        Set<String> jars = new LinkedHashSet<>();
        boolean found = false;
        for (Path pom : allFiles()) {
            Path list = pom.resolveSibling("target/rename.cp");
            if (pom.endsWith("pom.xml") && Files.exists(list)) {
                found = true;
                for (String entry : Files.readString(list).strip().split(File.pathSeparator)) {
                    if (entry.endsWith(".jar") && !entry.contains("io/ferro")) {
                        jars.add(entry);
                    }
                }
            }
        }
        if (!found) {
            throw new IllegalStateException("found no target/rename.cp: run the command with dependency:build-classpath first");
        }
        return String.join(File.pathSeparator, jars);
    }

    private int run(boolean dry) throws IOException {
        Sources sources = new Sources();
        if (!sources.errors.isEmpty()) {
            System.out.println(sources.errors.size() + " errors, so some uses may be missed:");
            sources.errors.stream().limit(20).forEach(each -> System.out.println("  " + each));
        }
        Targets targets = new Targets(sources);
        Map<Path, Set<Edit>> edits = new TreeMap<>();
        List<String> unseen = new ArrayList<>();
        Map<Path, List<String>> meant = new HashMap<>();
        for (CompilationUnitTree unit : sources.units) {
            Scan scan = new Scan(sources, targets, unit);
            scan.scan(unit, null);
            meant.put(scan.file, scan.meant);
            unseen.addAll(scan.unseen);
            if (!scan.edits.isEmpty()) {
                edits.put(scan.file, scan.edits);
            }
        }
        for (Path file : sources.moduleInfos) {
            Set<Edit> some = inModuleInfo(Files.readString(file));
            if (!some.isEmpty()) {
                edits.put(file, some);
            }
        }
        edits.keySet().removeIf(file -> {
            boolean generated = file.startsWith("target") || file.toString().contains("/target/");
            if (generated) {
                unseen.add(file + ": is generated; change its template");
            }
            return generated;
        });
        Map<Path, Path> moved = apply(edits);
        int count = edits.values().stream().mapToInt(Set::size).sum();
        System.out.println(count + " uses in " + edits.size() + " files, " + moved.size() + " files with new names");
        List<String> changed = compare(meant, moved, sources.errors);
        unseen.forEach(each -> System.out.println("by hand: " + each));
        printTexts(edits.keySet().stream().map(file -> moved.getOrDefault(file, file)).collect(Collectors.toSet()));
        if (dry || !changed.isEmpty()) {
            putBack();
        }
        changed.forEach(each -> System.out.println("error: " + each));
        if (!changed.isEmpty()) {
            System.out.println("all files are as they were");
        }
        return changed.isEmpty() ? 0 : 1;
    }

    /** Resolves the renamed sources and returns uses that mean another declaration than before, and new errors. */
    private List<String> compare(Map<Path, List<String>> meant, Map<Path, Path> moved, Set<String> errorsBefore)
            throws IOException {
        Sources renamed = new Sources();
        List<String> changed = new ArrayList<>();
        if (renamed.errors.size() > errorsBefore.size()) {
            renamed.errors.stream()
                    .filter(each -> !errorsBefore.contains(each))
                    .limit(20)
                    .forEach(changed::add);
        }
        Map<Path, Path> back = new HashMap<>();
        moved.forEach((from, to) -> back.put(to, from));
        Targets none = new Targets();
        for (CompilationUnitTree unit : renamed.units) {
            Scan scan = new Scan(renamed, none, unit);
            scan.scan(unit, null);
            List<String> first = meant.getOrDefault(back.getOrDefault(scan.file, scan.file), List.of());
            for (int i = 0; i < Math.max(first.size(), scan.meant.size()); i++) {
                String one = i < first.size() ? first.get(i) : "nothing";
                String other = i < scan.meant.size() ? scan.meant.get(i) : "nothing";
                if (!sameMeaning(one, other, moved)) {
                    String line = i < scan.lines.size() ? ":" + scan.lines.get(i) : "";
                    changed.add(scan.file + line + ": a name means " + other + " now, and meant " + one);
                    break;
                }
            }
        }
        return changed;
    }

    private static boolean sameMeaning(String one, String other, Map<Path, Path> moved) {
        if (one.equals(other)) {
            return true;
        }
        int mark = one.indexOf(" declaration ");
        Path to = mark < 0 ? null : moved.get(Path.of(one.substring(0, mark)));
        return to != null && other.equals(to + one.substring(mark));
    }

    /** Writes the edits, moves the files of types and packages, and returns the old and new names of files. */
    private Map<Path, Path> apply(Map<Path, Set<Edit>> edits) throws IOException {
        Map<Path, String> texts = new TreeMap<>();
        for (Map.Entry<Path, Set<Edit>> one : edits.entrySet()) {
            String text = Files.readString(one.getKey());
            List<Edit> sorted = new ArrayList<>(one.getValue());
            sorted.sort((a, b) -> Integer.compare(b.from(), a.from()));
            StringBuilder changed = new StringBuilder(text);
            for (Edit edit : sorted) {
                changed.replace(edit.from(), edit.to(), edit.name());
            }
            texts.put(one.getKey(), changed.toString());
        }
        Map<Path, Path> moved = new TreeMap<>();
        for (Path file : javaFiles()) {
            Path to = newFile(file);
            if (!to.equals(file)) {
                if (Files.exists(to)) {
                    throw new IllegalArgumentException(to + " exists already, so " + file + " cannot have its name");
                }
                moved.put(file, to);
                texts.putIfAbsent(file, Files.readString(file));
            }
        }
        for (Map.Entry<Path, String> one : texts.entrySet()) {
            before.put(one.getKey(), Files.readString(one.getKey()));
        }
        for (Map.Entry<Path, String> one : texts.entrySet()) {
            Path file = one.getKey();
            Path to = moved.getOrDefault(file, file);
            if (!to.equals(file)) {
                before.put(to, null);
                Files.createDirectories(to.getParent());
                delete(file);
            }
            Files.writeString(to, one.getValue());
        }
        return moved;
    }

    private void putBack() throws IOException {
        for (Map.Entry<Path, String> one : before.entrySet()) {
            if (one.getValue() == null) {
                delete(one.getKey());
            } else {
                Files.createDirectories(one.getKey().toAbsolutePath().getParent());
                Files.writeString(one.getKey(), one.getValue());
            }
        }
    }

    /** Deletes a file, and the folders around it that have nothing else. */
    private static void delete(Path file) throws IOException {
        Files.deleteIfExists(file);
        Path folder = file.getParent();
        while (folder != null && isEmpty(folder)) {
            Files.delete(folder);
            folder = folder.getParent();
        }
    }

    private static boolean isEmpty(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.findAny().isEmpty();
        }
    }

    private Path newFile(Path file) {
        String path = file.toString();
        if (path.contains("/target/") || path.startsWith("target/")) {
            return file;
        }
        for (Wanted one : wanted) {
            if (one.member() != null) {
                continue;
            }
            String old = "/" + one.owner().replace('.', '/');
            String renamed = old.substring(0, old.lastIndexOf('/') + 1) + one.name();
            if (path.endsWith(old + ".java")) {
                path = path.substring(0, path.length() - old.length() - 5) + renamed + ".java";
            } else if (path.contains(old + "/")) {
                path = path.replace(old + "/", renamed + "/");
            }
        }
        return Path.of(path);
    }

    /** A module-info names packages and types in full, so texts tell. */
    private Set<Edit> inModuleInfo(String text) {
        Set<Edit> edits = new LinkedHashSet<>();
        for (Wanted one : wanted) {
            if (one.member() == null) {
                // not a longer name, and not the name of the module itself
                Matcher use = Pattern.compile("(?<!module )(?<![\\w.])" + Pattern.quote(one.owner()) + "\\b")
                        .matcher(text);
                while (use.find()) {
                    edits.add(new Edit(use.end() - one.oldName().length(), use.end(), one.name()));
                }
            }
        }
        return edits;
    }

    /** Prints lines that no compiler reads; comments with a common word only from files that a rename has changed. */
    private void printTexts(Set<Path> edited) throws IOException {
        for (Wanted one : wanted) {
            boolean isPackage = one.member() == null && Character.isLowerCase(one.oldName().charAt(0));
            Pattern name = Pattern.compile(
                    isPackage ? "\\b" + one.owner().replace(".", "[./]") + "\\b" : "\\b" + Pattern.quote(one.oldName()) + "\\b");
            List<String> hits = new ArrayList<>();
            for (Path file : allFiles()) {
                String text = file.toAbsolutePath().equals(renames) ? "" : readable(file);
                boolean java = file.toString().endsWith(".java");
                boolean anywhere = Character.isUpperCase(one.oldName().charAt(0)) || one.member() == null;
                String[] lines = text.split("\n", -1);
                for (int i = 0; i < lines.length; i++) {
                    boolean likely = isPackage
                            || (java ? (anywhere || edited.contains(file)) && isTextOrComment(lines[i], one.oldName()) : anywhere || isCode(lines[i], one.oldName()));
                    if (likely && name.matcher(lines[i]).find()) {
                        hits.add("  " + file + ":" + (i + 1) + ": " + lines[i].strip());
                    }
                }
            }
            if (!hits.isEmpty()) {
                System.out.println("by hand, if they mean " + one.line() + ":");
                hits.stream().limit(60).forEach(System.out::println);
                if (hits.size() > 60) {
                    System.out.println("  and " + (hits.size() - 60) + " more: git grep -nw " + one.oldName());
                }
            }
        }
    }

    private static boolean isTextOrComment(String line, String name) {
        int at = line.indexOf(name);
        String head = at < 0 ? "" : line.substring(0, at);
        boolean text = (head.chars().filter(each -> each == '"').count() & 1) == 1;
        return text || head.contains("//") || head.strip().startsWith("*") || head.strip().startsWith("/*");
    }

    private static boolean isCode(String line, String name) {
        return Pattern.compile("[`#.\"]" + Pattern.quote(name) + "\\b").matcher(line).find();
    }

    private static String readable(Path file) {
        String name = file.getFileName().toString();
        String kind = name.contains(".") ? name.substring(name.lastIndexOf('.') + 1) : "";
        try {
            boolean service = file.toString().contains("META-INF");
            return (READ_AS_TEXT.contains(kind) || service) && Files.size(file) < 2_000_000 ? Files.readString(file) : "";
        } catch (IOException notText) {
            return "";
        }
    }

    private static List<Path> javaFiles() throws IOException {
        return allFiles().stream()
                .filter(file -> file.toString().endsWith(".java") && file.toString().contains("src/"))
                .toList();
    }

    private static List<Path> allFiles() throws IOException {
        List<Path> files = new ArrayList<>();
        Path checkout = Path.of("").toAbsolutePath();
        Files.walkFileTree(checkout, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
                String name = folder.getFileName().toString();
                boolean left = !folder.equals(checkout)
                        && (name.equals("target") || name.equals(".git") || folder.endsWith("src/test/resources/ferro"));
                return left ? FileVisitResult.SKIP_SUBTREE : FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                files.add(checkout.relativize(file));
                return FileVisitResult.CONTINUE;
            }
        });
        files.sort(null);
        return files;
    }

    /** All sources of the checkout, resolved. */
    private final class Sources {
        private final List<CompilationUnitTree> units = new ArrayList<>();
        private final List<Path> moduleInfos = new ArrayList<>();
        private final Set<String> errors = new LinkedHashSet<>();
        /** Declarations in sources; their number in their file stays when names change. */
        private final Map<Element, String> declarations = new HashMap<>();

        private final JavacTask task;
        private final DocTrees trees;

        Sources() throws IOException {
            List<Path> files = new ArrayList<>(javaFiles());
            files.removeIf(file -> file.endsWith("module-info.java") && moduleInfos.add(file));
            // those of templates would be parsed as programs beside the product
            files.removeIf(file -> file.toString().contains("/src/main/templates/"));
            Set<String> packages = new LinkedHashSet<>();
            files.removeIf(file -> file.endsWith("package-info.java") && !packages.add(packageOf(file)));
            files.addAll(generated());
            JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
            StandardJavaFileManager manager = compiler.getStandardFileManager(null, null, null);
            List<String> options = List.of(
                    "-proc:none",
                    "-Xmaxerrs",
                    "10000",
                    "-nowarn",
                    "-XDshould-stop.ifError=FLOW",
                    "--add-modules",
                    "jdk.incubator.vector,jdk.httpserver,jdk.management,jdk.compiler",
                    "-cp",
                    classPath);
            task = (JavacTask) compiler.getTask(
                    null,
                    manager,
                    problem -> {
                        if (problem.getKind() == Diagnostic.Kind.ERROR) {
                            String message = problem.getMessage(null).lines().findFirst().orElse("");
                            errors.add((problem.getSource() == null ? "" : problem.getSource().getName()) + ":"
                                    + problem.getLineNumber() + ": " + message);
                        }
                    },
                    options,
                    null,
                    manager.getJavaFileObjectsFromPaths(files));
            for (CompilationUnitTree unit : task.parse()) {
                units.add(unit);
            }
            task.analyze();
            trees = DocTrees.instance(task);
            units.forEach(unit -> new Declarations(this, unit).scan(unit, null));
        }

        private static String packageOf(Path file) {
            String path = file.getParent().toString();
            return path.substring(path.lastIndexOf("/ferro") + 1);
        }

        private static List<Path> generated() throws IOException {
            Path made = Path.of("collectives/target/generated-sources/templates");
            if (!Files.isDirectory(made)) {
                return List.of();
            }
            try (Stream<Path> walk = Files.walk(made)) {
                return walk.filter(file -> file.toString().endsWith(".java")).toList();
            }
        }
    }

    private static Path relative(CompilationUnitTree unit) {
        return Path.of("").toAbsolutePath().relativize(Path.of(unit.getSourceFile().toUri()));
    }

    /** Numbers the declarations of one file. */
    private static final class Declarations extends TreePathScanner<Void, Void> {
        private final Sources sources;
        private final Path file;
        private int count;

        Declarations(Sources sources, CompilationUnitTree unit) {
            this.sources = sources;
            file = relative(unit);
        }

        @Override
        public Void scan(Tree tree, Void none) {
            if (tree instanceof ClassTree || tree instanceof MethodTree || tree instanceof VariableTree) {
                Element element = sources.trees.getElement(new TreePath(getCurrentPath(), tree));
                if (element != null) {
                    sources.declarations.putIfAbsent(element, file + " declaration " + count++);
                }
            }
            return super.scan(tree, none);
        }
    }

    /** The declarations that get new names. */
    private final class Targets {
        private final Map<Element, String> names = new HashMap<>();
        /** By the full name of a package, its new last part. */
        private final Map<String, String> packages = new HashMap<>();

        /** None. */
        Targets() {}

        Targets(Sources sources) {
            Map<Wanted, Set<ExecutableElement>> methods = new LinkedHashMap<>();
            List<String> problems = new ArrayList<>();
            for (Wanted one : wanted) {
                try {
                    methods.put(one, add(sources, one));
                } catch (IllegalArgumentException problem) {
                    problems.add(problem.getMessage());
                }
            }
            if (!problems.isEmpty()) {
                throw new IllegalArgumentException(String.join("\n", problems));
            }
            methods.forEach((one, some) -> families(sources, one, some));
        }

        /** Returns the methods among the declarations of one line. */
        private Set<ExecutableElement> add(Sources sources, Wanted one) {
            TypeElement type = sources.task.getElements().getTypeElement(one.owner());
            if (one.member() == null) {
                ownName(sources, one, type);
                return Set.of();
            }
            if (type == null || !sources.declarations.containsKey(type)) {
                throw new IllegalArgumentException("no type " + one.owner() + " in the sources: " + one.line());
            }
            Set<Element> found = one.local() == null ? members(type, one) : locals(sources, type, one);
            if (found.isEmpty()) {
                throw new IllegalArgumentException("found no such declaration: " + one.line());
            }
            found.forEach(each -> names.put(each, one.name()));
            return new LinkedHashSet<>(ElementFilter.methodsIn(found));
        }

        private void ownName(Sources sources, Wanted one, TypeElement type) {
            String renamed = one.owner().substring(0, one.owner().lastIndexOf('.') + 1) + one.name();
            if (sources.task.getElements().getTypeElement(renamed) != null) {
                throw new IllegalArgumentException(renamed + " exists already: " + one.line());
            }
            boolean isPackage = type == null
                    && sources.units.stream().anyMatch(unit -> (unit.getPackageName() + ".").startsWith(one.owner() + "."));
            if (isPackage) {
                packages.put(one.owner(), one.name());
            } else if (type != null && sources.declarations.containsKey(type)) {
                names.put(type, one.name());
            } else {
                throw new IllegalArgumentException("no type or package " + one.owner() + " in the sources: " + one.line());
            }
        }

        private Set<Element> members(TypeElement type, Wanted one) {
            Set<Element> found = new LinkedHashSet<>();
            for (Element member : type.getEnclosedElements()) {
                boolean same = member.getSimpleName().contentEquals(one.member()) && !(member instanceof TypeElement);
                if (same && (one.parameters() == null || one.parameters().equals(parameters(member)))) {
                    boolean component = type.getRecordComponents().stream()
                            .anyMatch(each -> each.getSimpleName().contentEquals(one.member()));
                    // of a component's overloads only the accessor belongs to it
                    if (!component || !(member instanceof ExecutableElement) || parameters(member).isEmpty()) {
                        found.add(member);
                    }
                }
            }
            if (found.stream().anyMatch(each -> each.getKind() == ElementKind.RECORD_COMPONENT)) {
                for (ExecutableElement constructor : ElementFilter.constructorsIn(type.getEnclosedElements())) {
                    List<? extends Element> parameters = constructor.getParameters();
                    List<? extends Element> components = type.getRecordComponents();
                    if (types(parameters).equals(types(components))) {
                        parameters.stream()
                                .filter(each -> each.getSimpleName().contentEquals(one.member()))
                                .forEach(found::add);
                    }
                }
            }
            return found;
        }

        private static List<String> types(List<? extends Element> some) {
            return some.stream().map(each -> each.asType().toString()).toList();
        }

        /** Returns the types of parameters by their simple names, as {@code int,String}. */
        private static String parameters(Element method) {
            return !(method instanceof ExecutableElement executable)
                    ? null
                    : executable.getParameters().stream()
                            .map(each -> each.asType().toString().replaceAll("<.*>", "").replaceAll("[\\w]+\\.", ""))
                            .collect(Collectors.joining(","));
        }

        private Set<Element> locals(Sources sources, TypeElement type, Wanted one) {
            Set<Element> found = new LinkedHashSet<>();
            TreePath path = sources.trees.getPath(type);
            for (Tree member : ((ClassTree) path.getLeaf()).getMembers()) {
                boolean wanted = member instanceof MethodTree method
                        ? method.getName().contentEquals(one.member())
                        : member instanceof VariableTree field && field.getName().contentEquals(one.member());
                if (wanted) {
                    new TreePathScanner<Void, Void>() {
                        @Override
                        public Void visitVariable(VariableTree node, Void none) {
                            Element element = sources.trees.getElement(getCurrentPath());
                            if (node.getName().contentEquals(one.local()) && !element.getKind().isField()) {
                                found.add(element);
                            }
                            return super.visitVariable(node, none);
                        }
                    }.scan(new TreePath(path, member), null);
                }
            }
            return found;
        }

        /** Adds all methods that have to keep one name with some. */
        private void families(Sources sources, Wanted one, Set<ExecutableElement> some) {
            if (some.isEmpty()) {
                return;
            }
            Map<ExecutableElement, Set<ExecutableElement>> same = new HashMap<>();
            for (Element element : sources.declarations.keySet()) {
                if (element instanceof TypeElement type) {
                    List<ExecutableElement> methods = inherited(sources, type, one.member());
                    for (ExecutableElement upper : methods) {
                        for (ExecutableElement lower : methods) {
                            if (upper != lower && sources.task.getElements().overrides(lower, upper, type)) {
                                same.computeIfAbsent(lower, each -> new LinkedHashSet<>()).add(upper);
                                same.computeIfAbsent(upper, each -> new LinkedHashSet<>()).add(lower);
                            }
                        }
                    }
                }
            }
            Deque<ExecutableElement> open = new ArrayDeque<>(some);
            Set<ExecutableElement> family = new LinkedHashSet<>(some);
            while (!open.isEmpty()) {
                for (ExecutableElement next : same.getOrDefault(open.remove(), Set.of())) {
                    if (family.add(next)) {
                        open.add(next);
                    }
                }
            }
            for (ExecutableElement each : family) {
                TypeElement type = (TypeElement) each.getEnclosingElement();
                if (!sources.declarations.containsKey(type)) {
                    throw new IllegalArgumentException(one.line() + ": it overrides " + type + "." + each + " of a library");
                }
                for (ExecutableElement other : inherited(sources, type, one.name())) {
                    if (parameters(other).equals(parameters(each))) {
                        throw new IllegalArgumentException(one.line() + ": " + type + " has " + other + " already");
                    }
                }
                names.put(each, one.name());
            }
        }

        /** Returns the methods of a name in a type and in the types around which it is built. */
        private static List<ExecutableElement> inherited(Sources sources, TypeElement type, String name) {
            List<ExecutableElement> methods = new ArrayList<>();
            Set<Element> seen = new LinkedHashSet<>();
            Deque<TypeMirror> open = new ArrayDeque<>(List.of(type.asType()));
            while (!open.isEmpty()) {
                TypeMirror next = open.remove();
                Element element = next instanceof DeclaredType declared ? declared.asElement() : null;
                if (element != null && seen.add(element)) {
                    for (ExecutableElement method : ElementFilter.methodsIn(element.getEnclosedElements())) {
                        if (method.getSimpleName().contentEquals(name)) {
                            methods.add(method);
                        }
                    }
                    open.addAll(sources.task.getTypes().directSupertypes(next));
                }
            }
            return methods;
        }
    }

    /** Finds the uses in one file. */
    private final class Scan extends TreePathScanner<Void, Void> {
        private final Set<Edit> edits = new LinkedHashSet<>();
        /** What each name means, in the order of the file, and its line. */
        private final List<String> meant = new ArrayList<>();

        private final List<Long> lines = new ArrayList<>();
        private final List<String> unseen = new ArrayList<>();
        private final Sources sources;
        private final Targets targets;
        private final CompilationUnitTree unit;
        private final DocSourcePositions positions;
        private final String text;
        private final Path file;

        Scan(Sources sources, Targets targets, CompilationUnitTree unit) throws IOException {
            this.sources = sources;
            this.targets = targets;
            this.unit = unit;
            positions = sources.trees.getSourcePositions();
            text = unit.getSourceFile().getCharContent(true).toString();
            file = relative(unit);
        }

        @Override
        public Void visitImport(ImportTree node, Void none) {
            if (!node.isStatic() || !(node.getQualifiedIdentifier() instanceof MemberSelectTree member)) {
                return super.visitImport(node, none);
            }
            TreePath path = new TreePath(new TreePath(getCurrentPath(), member), member.getExpression());
            if (sources.trees.getElement(path) instanceof TypeElement type) {
                Set<String> renamed = new LinkedHashSet<>();
                for (Element each : sources.task.getElements().getAllMembers(type)) {
                    if (each.getSimpleName().equals(member.getIdentifier())) {
                        renamed.add(targets.names.getOrDefault(each, ""));
                    }
                }
                if (renamed.size() == 1 && !renamed.contains("")) {
                    edit(end(member) - member.getIdentifier().length(), member.getIdentifier(), renamed.iterator().next());
                } else if (renamed.size() > 1) {
                    unseen.add(file + ": only some overloads have new names: " + node.toString().strip());
                }
            }
            return scan(member.getExpression(), none);
        }

        @Override
        public Void visitIdentifier(IdentifierTree node, Void none) {
            use(node, start(node), node.getName());
            return super.visitIdentifier(node, none);
        }

        @Override
        public Void visitMemberSelect(MemberSelectTree node, Void none) {
            use(node, end(node) - node.getIdentifier().length(), node.getIdentifier());
            return super.visitMemberSelect(node, none);
        }

        @Override
        public Void visitMemberReference(MemberReferenceTree node, Void none) {
            use(node, end(node) - node.getName().length(), node.getName());
            return super.visitMemberReference(node, none);
        }

        @Override
        public Void visitPackage(com.sun.source.tree.PackageTree node, Void none) {
            comment();
            return super.visitPackage(node, none);
        }

        @Override
        public Void visitClass(ClassTree node, Void none) {
            comment();
            declared(node, after(node.getModifiers(), node), "(?:class|interface|enum|record)\\s+(%s)\\b", node.getSimpleName());
            return super.visitClass(node, none);
        }

        @Override
        public Void visitMethod(MethodTree node, Void none) {
            comment();
            if (node.getReturnType() == null) {
                Element type = sources.trees.getElement(getCurrentPath()).getEnclosingElement();
                String renamed = targets.names.get(type);
                if (renamed != null) {
                    declared(node, after(node.getModifiers(), node), "\\b(%s)\\s*[({]", type.getSimpleName(), renamed);
                }
            } else {
                declared(node, after(node.getReturnType(), node), "\\b(%s)\\s*\\(", node.getName());
            }
            return super.visitMethod(node, none);
        }

        @Override
        public Void visitVariable(VariableTree node, Void none) {
            comment();
            int modifiers = after(node.getModifiers(), node);
            int type = node.getType() == null ? modifiers : after(node.getType(), node);
            declared(node, Math.max(modifiers, type), "\\b(%s)\\b", node.getName());
            return super.visitVariable(node, none);
        }

        private void declared(Tree node, int from, String pattern, CharSequence old) {
            declared(node, from, pattern, old, targets.names.get(sources.trees.getElement(getCurrentPath())));
        }

        /** Edits the name of a declaration; those that the compiler adds have no end and no text. */
        private void declared(Tree node, int from, String pattern, CharSequence old, String renamed) {
            int end = end(node);
            if (renamed == null || end < 0 || from < 0 || from > end) {
                return;
            }
            Matcher name = Pattern.compile(pattern.formatted(Pattern.quote(old.toString()))).matcher(text);
            if (name.region(from, Math.min(text.length(), end + 1)).find()) {
                edit(name.start(1), old, renamed);
            }
        }

        private void use(Tree node, int at, CharSequence old) {
            Element element = sources.trees.getElement(getCurrentPath());
            meant.add(meaning(element));
            lines.add(start(node) < 0 ? 0 : unit.getLineMap().getLineNumber(start(node)));
            if (element == null || element instanceof PackageElement) {
                String renamed = targets.packages.get(node.toString());
                if (renamed != null) {
                    edit(at, old, renamed);
                }
            } else if (targets.names.containsKey(element)) {
                edit(at, old, targets.names.get(element));
            }
        }

        private void edit(int at, CharSequence old, String renamed) {
            if (at >= 0 && text.startsWith(old.toString(), at)) {
                edits.add(new Edit(at, at + old.length(), renamed));
            }
        }

        private String meaning(Element element) {
            if (element == null) {
                return "nothing";
            }
            if (element instanceof PackageElement) {
                return "a package";
            }
            String declaration = sources.declarations.get(element);
            Element around = element.getEnclosingElement();
            if (declaration != null) {
                return declaration;
            }
            if (around != null && sources.declarations.containsKey(around)) {
                return sources.declarations.get(around) + " member " + around.getEnclosedElements().indexOf(element);
            }
            return element.getKind() + " " + (around == null ? "" : around.getSimpleName() + ".") + element.getSimpleName()
                    + (element instanceof ExecutableElement method ? method.getParameters().size() : "");
        }

        private int start(Tree node) {
            return (int) positions.getStartPosition(unit, node);
        }

        private int end(Tree node) {
            return (int) positions.getEndPosition(unit, node);
        }

        private int after(Tree part, Tree node) {
            int end = end(part);
            return end < 0 ? start(node) : end;
        }

        private void comment() {
            TreePath path = getCurrentPath();
            DocCommentTree comment = sources.trees.getDocCommentTree(path);
            if (comment != null && !(targets.names.isEmpty() && targets.packages.isEmpty())) {
                new References(path, comment).scan(new DocTreePath(path, comment), null);
            }
        }

        /** Finds the uses in one Javadoc comment. */
        private final class References extends DocTreePathScanner<Void, Void> {
            private final TreePath path;
            private final DocCommentTree comment;

            References(TreePath path, DocCommentTree comment) {
                this.path = path;
                this.comment = comment;
            }

            @Override
            public Void visitParam(ParamTree node, Void none) {
                Element owner = sources.trees.getElement(path);
                List<Element> named = new ArrayList<>();
                if (owner instanceof ExecutableElement method) {
                    named.addAll(method.getParameters());
                } else if (owner instanceof TypeElement type) {
                    named.addAll(type.getRecordComponents());
                }
                for (Element each : named) {
                    if (targets.names.containsKey(each)
                            && each.getSimpleName().contentEquals(node.getName().getName())) {
                        edit(at(node.getName()), each.getSimpleName(), targets.names.get(each));
                    }
                }
                return super.visitParam(node, none);
            }

            @Override
            public Void visitReference(ReferenceTree node, Void none) {
                String signature = node.getSignature();
                int hash = signature.indexOf('#');
                int start = at(node);
                Element element = sources.trees.getElement(getCurrentPath());
                Matcher word = WORD.matcher(signature);
                while (word.find()) {
                    int before = word.start() - 1;
                    if (hash >= 0 && before == hash) {
                        if (element != null && targets.names.containsKey(element)) {
                            edit(start + word.start(), word.group(), targets.names.get(element));
                        } else if (element == null && isOld(word.group())) {
                            unseen.add(file + ": cannot resolve {@link " + signature + "}");
                        }
                    } else if (isOld(word.group())) {
                        type(signature, word, start);
                    }
                }
                return super.visitReference(node, none);
            }

            /** Renames a type, or the last part of a package, in a reference. */
            private void type(String signature, Matcher word, int start) {
                int from = word.start();
                while (from > 0 && (Character.isJavaIdentifierPart(signature.charAt(from - 1)) || signature.charAt(from - 1) == '.')) {
                    from--;
                }
                String name = signature.substring(from, word.end());
                Element meant = sources.trees.getElement(new DocTreePath(
                        getCurrentPath().getParentPath(),
                        sources.trees.getDocTreeFactory().newReferenceTree(name)));
                String renamed = meant instanceof TypeElement ? targets.names.get(meant) : targets.packages.get(name);
                if (renamed != null) {
                    edit(start + word.start(), word.group(), renamed);
                }
            }

            private boolean isOld(String name) {
                return wanted.stream().anyMatch(one -> one.oldName().equals(name));
            }

            private int at(DocTree node) {
                return (int) positions.getStartPosition(unit, comment, node);
            }
        }
    }
}

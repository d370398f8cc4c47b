import com.sun.source.doctree.DocCommentTree;
import com.sun.source.doctree.ParamTree;
import com.sun.source.tree.BinaryTree;
import com.sun.source.tree.BlockTree;
import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.ExpressionStatementTree;
import com.sun.source.tree.ExpressionTree;
import com.sun.source.tree.IdentifierTree;
import com.sun.source.tree.ImportTree;
import com.sun.source.tree.LiteralTree;
import com.sun.source.tree.MemberSelectTree;
import com.sun.source.tree.MethodInvocationTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.PrimitiveTypeTree;
import com.sun.source.tree.NewClassTree;
import com.sun.source.tree.ReturnTree;
import com.sun.source.tree.StatementTree;
import com.sun.source.tree.ThrowTree;
import com.sun.source.tree.Tree;
import com.sun.source.util.DocTrees;
import com.sun.source.util.JavacTask;
import com.sun.source.util.SourcePositions;
import com.sun.source.util.TreePathScanner;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.lang.model.element.Modifier;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/**
 * Prints the figures of CONTRIBUTING.md, one column per checkout: {@code java config/figures/Figures.java [checkout]...}.
 * Parses the sources of all modules but their tests, and not what the build makes of templates; needs neither a build nor a
 * library.
 *
 * <ul>
 * <li>Lines of a method are those between its braces. Constructors count, abstract methods do not.
 * <li>A type or method is public where it and all types around it are public or protected. What overrides is left out, and
 *     so are packages named ffi, which are for one library.
 * <li>All tags are {@code @param} for each parameter, {@code @return} unless it is void, and {@code @throws}.
 * <li>A name is a simple one, of a nested type too. The types of a package are those with a file of their own.
 * <li>A delegation is a method or constructor that is one call, which hands on names and literals only.
 * <li>A knot is of types with a file of their own that need each other by names in their code: not in imports, not in
 *     Javadoc. A cycle is one of packages.
 * <li>An exception has a value if one argument of its constructor is more than literals and an error code. Types that throw
 *     one without stand behind the figure.
 * <li>The figures about users count types with a file of their own, and nested types of more than 15 lines. A user is a file
 *     whose code names the type; the file of a nested type counts, that of another type does not. A type is internal if its
 *     package is not exported, or if users cannot see it. A superclass without an outside user is internal, and
 *     its children alone name it. An interface with one implementation is internal, has no annotation
 *     {@code FunctionalInterface}, and one main type implements it. Types in reasons.csv do not count.
 * </ul>
 *
 * <p>{@code java config/figures/Figures.java --limits} prints for each module the figures that have limits in limits.csv, and
 * the types behind them with {@code --limits MODULE}. The exit code is 1 if one is above its limit or has
 * none; {@code --shrink} lowers the limits to what is counted, but not those of long files, nor of file lines below 350.
 *
 * <p>{@code java config/figures/Figures.java --feature [PATTERN]} prints by module the files, and templates, that have a
 * pattern in any case: what a feature costs. Without a pattern the feature is the exclusive scan.
 */
final class Figures {
    private static final Pattern EXPORTS = Pattern.compile("(?m)^ *exports ([a-z.]+);");
    private static final int LEAST_NESTED_LINES = 16;
    private static final int SMALL = 60;
    private static final int LONG_FILE = 500;
    private static final String ALL = "all";
    /** The figures that have limits by module, as limits.csv names them. */
    private static final List<String> FIGURES = List.of(
            "superclasses without an outside user",
            "internal interfaces with one implementation",
            "internal types under 60 lines with one user",
            "types with one user",
            "largest knot of classes");

    /** Has a limit for all modules too. */
    private static final String LONG_FILES = "files over 500 lines";

    private static final String LONG_WITHOUT_SENTENCE = "files over 500 lines without a first sentence";

    /** The feature whose files are counted, and its name. */
    private static final String SCAN = "exclusive_?scan";

    private static final String SCAN_FILES = "files of exclusive scan";

    private static final Path LIMITS = Path.of("config/figures/limits.csv");
    private static final Path REASONS = Path.of("config/figures/reasons.csv");

    /** The folder of modules that a profile of their own builds. */
    private static final String ADAPTERS = "adapters";

    /** By module and file. */
    private final Map<String, Map<Path, Integer>> fileLines = new TreeMap<>();
    /** By module, the files that have the pattern of a feature. */
    private final Map<String, List<String>> featured = new TreeMap<>();

    private final Set<String> exported = new TreeSet<>();
    /** By qualified name. */
    private final Map<String, Type> types = new TreeMap<>();

    private final Map<String, String> moduleOf = new HashMap<>();
    private final List<Integer> methodLines = new ArrayList<>();
    /** How many types have a name. */
    private final Map<String, Integer> names = new TreeMap<>();
    /** Types with a file of their own, by qualified name. */
    private final Map<String, Unit> units = new TreeMap<>();

    private final List<Member> members = new ArrayList<>();
    private int delegations;
    private int thrown;
    /** By unit, how many exceptions it throws that have no value. */
    private final Map<String, Integer> thrownWithoutValue = new TreeMap<>();

    /** A type with a file of its own; what it extends, and the names in its code, are qualified as far as imports do. */
    private record Unit(String pack, boolean isPublic, String parent, Set<String> named) {}

    /** A type of the figures about users; names in its code, and what it extends or implements, by the names of its file. */
    private static final class Type {
        private final String name;
        private final String unit;
        private final ClassTree tree;
        private final int lines;
        private final boolean isSeen;
        private final Map<String, String> imported;
        private final Set<List<String>> named = new LinkedHashSet<>();
        private final Set<List<String>> parents = new LinkedHashSet<>();

        Type(String name, String unit, ClassTree tree, int lines, boolean isSeen, Map<String, String> imported) {
            this.name = name;
            this.unit = unit;
            this.tree = tree;
            this.lines = lines;
            this.isSeen = isSeen;
            this.imported = imported;
        }

        boolean isNested() {
            return !name.equals(unit);
        }

        boolean isPlainInterface() {
            return tree.getKind() == Tree.Kind.INTERFACE
                    && tree.getModifiers().getAnnotations().stream()
                            .noneMatch(each -> each.getAnnotationType().toString().equals("FunctionalInterface"));
        }
    }

    /** A nested type or a method of a unit, or the unit. */
    private record Member(String unit, Tree tree, boolean isSeen, boolean isPublic, DocCommentTree comment) {
        String name() {
            String type = unit.substring(unit.lastIndexOf('.') + 1);
            return tree instanceof MethodTree method
                    ? type + "." + method.getName()
                    : ((ClassTree) tree).getSimpleName().toString();
        }

        boolean isMethod() {
            return tree instanceof MethodTree;
        }

        boolean overrides() {
            return tree instanceof MethodTree method
                    && method.getModifiers().getAnnotations().stream()
                            .anyMatch(
                                    each -> each.getAnnotationType().toString().equals("Override"));
        }

        boolean hasBody() {
            return tree instanceof MethodTree method && method.getBody() != null;
        }

        /**
         * Whether its comment has a tag for each parameter, one for the result, and one for exceptions. A method that
         * returns something and takes no objects needs no tag for exceptions.
         */
        boolean saysAll() {
            if (comment == null || !(tree instanceof MethodTree method)) {
                return false;
            }
            List<String> tags = comment.getBlockTags().stream()
                    .map(tag -> tag instanceof ParamTree param ? "@param " + param.getName() : tag.getKind().tagName)
                    .toList();
            return method.getParameters().stream().allMatch(each -> tags.contains("@param " + each.getName()))
                    && (tags.contains("return") || method.getReturnType().toString().equals("void"))
                    && (tags.contains("throws")
                            || tags.contains("return")
                                    && method.getParameters().stream()
                                    .allMatch(each -> each.getType() instanceof PrimitiveTypeTree));
        }
    }

    private Figures(Path root, String feature) throws IOException {
        List<Path> files = sources(root);
        if (files.isEmpty()) {
            throw new IllegalArgumentException("no sources of modules under " + root + ": name a checkout of ferro");
        }
        Pattern pattern = Pattern.compile(feature, Pattern.CASE_INSENSITIVE);
        for (Path file : files) {
            String text = Files.readString(file);
            String module = module(root, file);
            Path name = root.relativize(file);
            if (pattern.matcher(text).find()) {
                featured.computeIfAbsent(module, key -> new ArrayList<>()).add(name.toString());
            }
            if (isJava(file)) {
                fileLines.computeIfAbsent(module, key -> new TreeMap<>()).put(name, (int) text.lines().count());
            }
            moduleOf.put(file.toAbsolutePath().normalize().toString(), module);
            if (file.endsWith("module-info.java")) {
                EXPORTS.matcher(text).results().forEach(found -> exported.add(found.group(1)));
            }
        }
        files.removeIf(file -> !isJava(file));
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        StandardJavaFileManager manager = compiler.getStandardFileManager(null, null, null);
        JavacTask task = (JavacTask)
                compiler.getTask(null, manager, null, null, null, manager.getJavaFileObjectsFromPaths(files));
        for (CompilationUnitTree file : task.parse()) {
            new Reader(file, DocTrees.instance(task)).scan(file, null);
        }
    }

    /** Looks at folders of sources only: a build that runs makes and deletes files in others. */
    private static List<Path> sources(Path root) throws IOException {
        List<Path> files = new ArrayList<>();
        for (Path folder : List.of(root.resolve(ADAPTERS), root)) {
            for (Path module : children(folder)) {
                Path main = module.resolve("src/main");
                if (Files.isDirectory(main)) {
                    try (Stream<Path> found = Files.walk(main)) {
                        found.filter(file -> file.toString().endsWith(".template")
                                        || isJava(file) && !file.startsWith(main.resolve("templates")))
                                .sorted()
                                .forEach(files::add);
                    }
                }
            }
        }
        return files;
    }

    private static boolean isJava(Path file) {
        return file.toString().endsWith(".java");
    }

    private static List<Path> children(Path folder) throws IOException {
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        try (Stream<Path> all = Files.list(folder)) {
            return all.sorted().toList();
        }
    }

    private static String module(Path root, Path file) {
        Path path = root.relativize(file);
        return path.startsWith(ADAPTERS) ? ADAPTERS + "/" + path.getName(1) : path.getName(0).toString();
    }

    public static void main(String[] arguments) throws IOException {
        if (arguments.length > 0 && arguments[0].equals("--feature")) {
            Figures figures = new Figures(Path.of("."), arguments.length > 1 ? arguments[1] : SCAN);
            print(figures.featured);
            System.out.println(ALL + ": " + figures.featured().size());
            return;
        }
        if (arguments.length > 0 && arguments[0].startsWith("--")) {
            System.exit(new Figures(Path.of("."), SCAN).limits(arguments) ? 0 : 1);
        }
        List<Map<String, String>> columns = new ArrayList<>();
        for (String root : arguments.length == 0 ? new String[] {"."} : arguments) {
            columns.add(new Figures(Path.of(root), SCAN).table());
        }
        Set<String> rows = new LinkedHashSet<>();
        columns.forEach(column -> rows.addAll(column.keySet()));
        for (String row : rows) {
            System.out.println(columns.stream()
                    .map(column -> column.getOrDefault(row, "none"))
                    .collect(Collectors.joining(" | ", "| " + row + " | ", " |")));
        }
    }

    /** Prints the figures that have limits; returns whether all hold. */
    private boolean limits(String[] arguments) throws IOException {
        if (!List.of("--limits", "--shrink").contains(arguments[0])) {
            throw new IllegalArgumentException("found " + arguments[0] + ": need --limits, --limits MODULE, --shrink, or --feature");
        }
        Map<String, Map<String, List<String>>> found = limited();
        if (arguments.length == 2) {
            print(found.getOrDefault(arguments[1], Map.of()));
            return true;
        }
        List<String> lines = new ArrayList<>();
        boolean holds = true;
        for (String line : Files.readAllLines(LIMITS)) {
            String[] fields = line.split(",");
            List<String> names = found.getOrDefault(fields[0], new HashMap<>()).remove(fields[1]);
            if (names != null) {
                int limit = Integer.parseInt(fields[2]);
                int count = names.size();
                holds &= count <= limit;
                System.out.println("| " + fields[0] + " | " + fields[1] + " | " + count + " | " + limit
                        + (count > limit ? ": **above** |" : " |"));
                boolean isGoal = fields[0].equals(ALL) || fields[1].equals(LONG_FILES);
                line = fields[0] + "," + fields[1] + "," + (isGoal ? limit : Math.min(limit, count));
            }
            lines.add(line);
        }
        if (arguments[0].equals("--shrink")) {
            Files.write(LIMITS, lines);
        }
        found.forEach((module, figures) -> figures.forEach((figure, names) ->
                System.out.println("| " + module + " | " + figure + " | " + names.size() + " | none: **above** |")));
        return holds && found.values().stream().allMatch(Map::isEmpty);
    }

    private static void print(Map<String, List<String>> lists) {
        lists.forEach((name, all) -> System.out.println(
                name + ": " + all.size() + all.stream().map(each -> "\n  " + each).collect(Collectors.joining())));
    }

    private List<String> featured() {
        return featured.values().stream().flatMap(List::stream).toList();
    }

    /** Returns by module and figure the names that count. */
    private Map<String, Map<String, List<String>>> limited() throws IOException {
        Map<String, Set<Type>> users = new HashMap<>();
        Map<String, Set<Type>> children = new HashMap<>();
        for (Type type : types.values()) {
            type.named.forEach(name -> put(users, resolve(type, name), type));
            type.parents.forEach(name -> put(children, resolve(type, name), type));
        }
        Set<String> excepted = new TreeSet<>();
        Map<String, Map<String, List<String>>> found = new TreeMap<>();
        List<String> reasons = Files.exists(REASONS) ? Files.readAllLines(REASONS) : List.of("");
        reasons.stream().skip(1).map(line -> line.split(",", 2)[0]).forEach(excepted::add);
        found.put(ALL, new TreeMap<>());
        found.get(ALL).put("reasons", reasons.subList(1, reasons.size()));
        found.get(ALL).put(SCAN_FILES, featured());
        for (Type type : types.values()) {
            String module = moduleOf.get(type.name);
            Set<String> files = units(users.getOrDefault(type.name, Set.of()));
            Set<Type> heirs = children.getOrDefault(type.name, Set.of());
            files.removeIf(unit -> unit.equals(type.unit) && !type.isNested());
            Map<String, List<String>> figures = found.computeIfAbsent(module, name -> figures());
            if (excepted.contains(type.name)) {
                continue;
            }
            if (!type.isSeen
                    && !heirs.isEmpty()
                    && type.tree.getKind() == Tree.Kind.CLASS
                    && units(heirs).containsAll(files)) {
                figures.get(FIGURES.get(0)).add(type.name);
            }
            if (!type.isSeen && type.isPlainInterface() && heirs.size() == 1) {
                figures.get(FIGURES.get(1)).add(type.name);
            }
            if (files.size() == 1) {
                figures.get(FIGURES.get(3)).add(type.name);
                if (!type.isSeen && type.lines < SMALL) {
                    figures.get(FIGURES.get(2)).add(type.name);
                }
            }
        }
        for (Set<String> knot : knots(arrows())) {
            List<String> largest = found.get(moduleOf.get(knot.iterator().next())).get(FIGURES.get(4));
            if (knot.size() > largest.size()) {
                largest.clear();
                largest.addAll(knot);
            }
        }
        Map<Path, Integer> all = new TreeMap<>();
        fileLines.values().forEach(all::putAll);
        found.forEach((module, figures) -> addFiles(module.equals(ALL) ? all : fileLines.get(module), figures));
        List<String> silent = new ArrayList<>(found.get(ALL).get(LONG_FILES));
        members.stream()
                .filter(each -> each.unit().endsWith("." + each.name()) && each.comment() != null)
                .filter(each -> !each.comment().getFirstSentence().isEmpty())
                .forEach(each -> silent.removeIf(file -> file.endsWith(each.unit().replace('.', '/') + ".java")));
        found.get(ALL).put(LONG_WITHOUT_SENTENCE, silent);
        return found;
    }

    private static void addFiles(Map<Path, Integer> lines, Map<String, List<String>> figures) {
        figures.put(LONG_FILES, lines.entrySet().stream()
                .filter(file -> file.getValue() > LONG_FILE)
                .sorted(Map.Entry.comparingByValue())
                .map(file -> file.getValue() + " lines: " + file.getKey())
                .toList());
    }

    private static Map<String, List<String>> figures() {
        Map<String, List<String>> figures = new LinkedHashMap<>();
        FIGURES.forEach(figure -> figures.put(figure, new ArrayList<>()));
        return figures;
    }

    private static Set<String> units(Set<Type> types) {
        return types.stream().map(type -> type.unit).collect(Collectors.toCollection(TreeSet::new));
    }

    private static void put(Map<String, Set<Type>> map, String name, Type type) {
        if (name != null && !name.equals(type.name)) {
            map.computeIfAbsent(name, key -> new LinkedHashSet<>()).add(type);
        }
    }

    /** Returns the type that a name in the code of another one means; null if it is none that counts. */
    private String resolve(Type from, List<String> name) {
        String first = name.get(0);
        String at = from.imported.get(first);
        for (String around = from.name; at == null && around.length() >= from.unit.length(); ) {
            at = types.containsKey(around + "." + first) ? around + "." + first : null;
            around = around.substring(0, around.lastIndexOf('.'));
        }
        String full = String.join(".", name);
        while (at == null && !types.containsKey(full) && full.contains(".")) {
            full = full.substring(0, full.lastIndexOf('.'));
        }
        if (at == null && types.containsKey(full)) {
            return full;
        }
        String pack = from.unit.substring(0, from.unit.lastIndexOf('.'));
        at = at == null ? pack + "." + first : at;
        for (String next : name.subList(1, name.size())) {
            at = types.containsKey(at + "." + next) ? at + "." + next : at;
        }
        while (!types.containsKey(at) && at.contains(".")) {
            at = at.substring(0, at.lastIndexOf('.'));
        }
        return types.containsKey(at) ? at : null;
    }

    private Map<String, String> table() throws IOException {
        Map<String, String> rows = new LinkedHashMap<>();
        rows.put("method lines p50/p95/p99/max", percentiles(methodLines, 50, 95, 99, 100));
        List<Integer> all = fileLines.values().stream().flatMap(files -> files.values().stream()).toList();
        rows.put("file lines p50/p95/max", percentiles(all, 50, 95, 100));
        Map<String, Map<String, List<String>>> limited = limited();
        for (String figure : FIGURES.subList(0, 4)) {
            rows.put(figure, "" + limited.values().stream()
                    .mapToInt(figures -> figures.getOrDefault(figure, List.of()).size())
                    .sum());
        }
        rows.put(LONG_FILES, "" + limited.get(ALL).get(LONG_FILES).size());
        rows.put("public types with Javadoc", documented(member -> !member.isMethod()));
        rows.put("public methods with Javadoc", documented(member -> member.isMethod() && !member.overrides()));
        rows.put("public methods of package-private superclasses with all tags", hidden());
        Map<String, Integer> twice = new TreeMap<>(names);
        twice.values().removeIf(times -> times < 2);
        rows.put("simple type names used twice or more", twice.size() + ": " + largest(twice));
        Map<String, Integer> packages = new TreeMap<>();
        units.values().forEach(unit -> packages.merge(unit.pack(), 1, Integer::sum));
        rows.put("largest packages, types", largest(packages));
        rows.put("one-line delegations", delegations + " of " + methodLines.size() + " methods");
        Map<String, Set<String>> arrows = arrows();
        List<Set<String>> cycles = knots(ofPackages(arrows));
        rows.put("package cycles", cycles.isEmpty() ? "0" : cycles.size() + ": " + cycles);
        rows.put("largest knots of classes", largestKnots(knots(arrows)));
        rows.put("`throw new` with a value", withValue());
        return rows;
    }

    private static String percentiles(List<Integer> values, int... percents) {
        List<Integer> sorted = values.stream().sorted().toList();
        return IntStream.of(percents)
                .mapToObj(percent -> sorted.get(Math.min(sorted.size() * percent / 100, sorted.size() - 1)).toString())
                .collect(Collectors.joining("/"));
    }

    private String documented(Predicate<Member> which) {
        List<Member> all = members.stream().filter(Member::isSeen).filter(which).toList();
        return share(all, member -> member.comment() != null);
    }

    /** Methods that users of a public type see, and doclint does not: those of package-private types that it extends. */
    private String hidden() {
        Set<String> parents = new TreeSet<>();
        for (Unit unit : units.values()) {
            Unit parent = units.get(unit.parent());
            for (Unit at = unit; unit.isPublic() && parent != null; parent = units.get(at.parent())) {
                if (!parent.isPublic()) {
                    parents.add(at.parent());
                }
                at = parent;
            }
        }
        List<Member> all = members.stream()
                .filter(member -> member.hasBody() && member.isPublic() && parents.contains(member.unit()))
                .toList();
        return share(all, Member::saysAll);
    }

    /** Returns how many of the members are as they should be, and the names of others. */
    private static String share(List<Member> all, Predicate<Member> isRight) {
        List<String> others = all.stream()
                .filter(isRight.negate())
                .map(Member::name)
                .distinct()
                .toList();
        String names = others.stream().limit(4).map(name -> "`" + name + "`").collect(Collectors.joining(", ", ": ", ""));
        return all.stream().filter(isRight).count() + " of " + all.size() + (others.isEmpty() ? "" : names);
    }

    /** Rounds down, so that 100 % are all. */
    private String withValue() {
        int without = thrownWithoutValue.values().stream().reduce(0, Integer::sum);
        return without == 0
                ? "100 % of " + thrown
                : 100 * (thrown - without) / thrown + " % of " + thrown + ", without: " + largest(thrownWithoutValue);
    }

    private static String largest(Map<String, Integer> counts) {
        return counts.entrySet().stream()
                .sorted(Map.Entry.comparingByValue(Comparator.reverseOrder()))
                .limit(4)
                .map(entry -> "`" + entry.getKey() + "` " + entry.getValue())
                .collect(Collectors.joining(", "));
    }

    /** By name of a unit, the other units that its code names. */
    private Map<String, Set<String>> arrows() {
        Map<String, Set<String>> arrows = new TreeMap<>();
        units.forEach((name, unit) -> {
            Set<String> others = unit.named().stream()
                    .map(this::unitOf)
                    .filter(Objects::nonNull)
                    .collect(Collectors.toCollection(TreeSet::new));
            others.remove(name);
            arrows.put(name, others);
        });
        return arrows;
    }

    /** Returns the unit that a qualified name, of one of its members too, is of; null if there is none. */
    private String unitOf(String name) {
        String unit = name;
        while (!units.containsKey(unit) && unit.contains(".")) {
            unit = unit.substring(0, unit.lastIndexOf('.'));
        }
        return units.containsKey(unit) ? unit : null;
    }

    private Map<String, Set<String>> ofPackages(Map<String, Set<String>> arrows) {
        Map<String, Set<String>> packages = new TreeMap<>();
        arrows.forEach((from, all) -> {
            Set<String> others = packages.computeIfAbsent(units.get(from).pack(), name -> new TreeSet<>());
            all.forEach(to -> others.add(units.get(to).pack()));
        });
        return packages;
    }

    /** Sets of those that all need one another, by whatever way; the largest first. */
    private static List<Set<String>> knots(Map<String, Set<String>> arrows) {
        Map<String, Set<String>> reached = new HashMap<>();
        arrows.keySet().forEach(from -> reached.put(from, reached(from, arrows)));
        Set<Set<String>> knots = new LinkedHashSet<>();
        for (String name : arrows.keySet()) {
            knots.add(reached.get(name).stream()
                    .filter(other -> reached.get(other).contains(name))
                    .collect(Collectors.toCollection(TreeSet::new)));
        }
        return knots.stream()
                .filter(knot -> knot.size() > 1)
                .sorted(Comparator.comparing((Set<String> knot) -> knot.size()).reversed())
                .toList();
    }

    private static Set<String> reached(String from, Map<String, Set<String>> arrows) {
        Set<String> reached = new TreeSet<>();
        Deque<String> next = new ArrayDeque<>(arrows.get(from));
        while (!next.isEmpty()) {
            String name = next.pop();
            if (reached.add(name)) {
                next.addAll(arrows.get(name));
            }
        }
        return reached;
    }

    private String largestKnots(List<Set<String>> knots) {
        return knots.stream()
                .limit(4)
                .map(knot -> knot.stream()
                        .map(name -> "`" + units.get(name).pack() + "`")
                        .distinct()
                        .collect(Collectors.joining(" and ", "", " " + knot.size())))
                .collect(Collectors.joining(", "));
    }

    /** Reads one file. */
    private final class Reader extends TreePathScanner<Void, Void> {
        private final CompilationUnitTree file;
        private final DocTrees trees;
        private final SourcePositions positions;
        private final String pack;
        private final Map<String, String> imported = new HashMap<>();
        private final Set<String> named = new TreeSet<>();
        private String unit;
        private final Deque<Type> around = new ArrayDeque<>();
        private String nested = "";
        /** Of the type around: whether users see it, and whether what stands in it is public without a word. */
        private boolean isSeen;

        private boolean isInterface;

        Reader(CompilationUnitTree file, DocTrees trees) {
            this.file = file;
            this.trees = trees;
            this.positions = trees.getSourcePositions();
            this.pack = String.valueOf(file.getPackageName());
            this.isSeen = !pack.endsWith(".ffi");
        }

        @Override
        public Void visitImport(ImportTree tree, Void none) {
            String name = tree.getQualifiedIdentifier().toString();
            imported.put(name.substring(name.lastIndexOf('.') + 1), name);
            return null;
        }

        private String qualified(String name) {
            return imported.getOrDefault(name, pack + "." + name);
        }

        @Override
        public Void visitIdentifier(IdentifierTree tree, Void none) {
            named.add(qualified(tree.getName().toString()));
            name(List.of(tree.getName().toString()));
            return super.visitIdentifier(tree, none);
        }

        @Override
        public Void visitMemberSelect(MemberSelectTree tree, Void none) {
            named.add(tree.toString());
            name(List.of(tree.toString().split("\\.")));
            return super.visitMemberSelect(tree, none);
        }

        @Override
        public Void visitClass(ClassTree tree, Void none) {
            String name = tree.getSimpleName().toString();
            if (name.isEmpty()) {
                return super.visitClass(tree, none);
            }
            String outer = nested;
            nested = outer.isEmpty() ? pack + "." + name : outer + "." + name;
            boolean isType = enter(tree, outer.isEmpty() ? nested : around.getLast().unit);
            names.merge(name, 1, Integer::sum);
            boolean isPublic = isPublic(tree.getModifiers().getFlags());
            if (getCurrentPath().getParentPath().getLeaf() == file) {
                unit = pack + "." + name;
                String parent = qualified(Objects.toString(tree.getExtendsClause(), ""));
                units.put(unit, new Unit(pack, isPublic, parent, named));
            }
            boolean outerSeen = isSeen;
            boolean outerInterface = isInterface;
            isSeen &= isPublic;
            isInterface = tree.getKind() == Tree.Kind.INTERFACE;
            add(tree, isPublic);
            super.visitClass(tree, none);
            isSeen = outerSeen;
            isInterface = outerInterface;
            nested = outer;
            if (isType) {
                around.pop();
            }
            return null;
        }

        /** Enters a type of the figures about users; returns whether it is one. */
        private boolean enter(ClassTree tree, String unit) {
            int lines = line(end(tree)) - line(positions.getStartPosition(file, tree)) + 1;
            List<Tree> parents = new ArrayList<>(tree.getImplementsClause());
            if (tree.getExtendsClause() != null) {
                parents.add(tree.getExtendsClause());
            }
            boolean isType = around.isEmpty() || lines >= LEAST_NESTED_LINES;
            if (isType) {
                boolean seen = isSeen && isPublic(tree.getModifiers().getFlags()) && exported.contains(pack);
                around.push(new Type(nested, unit, tree, lines, seen, imported));
                types.put(nested, around.peek());
                Path source = Path.of(file.getSourceFile().toUri());
                moduleOf.put(nested, moduleOf.get(source.normalize().toString()));
            }
            // a type that is too small to count implements for the one around it
            parents.forEach(
                    parent -> around.peek().parents.add(List.of(parent.toString().replaceAll("<.*", "").split("\\."))));
            return isType;
        }

        private void name(List<String> segments) {
            if (!around.isEmpty()) {
                around.peek().named.add(segments);
            }
        }

        @Override
        public Void visitNewClass(NewClassTree tree, Void none) {
            if (tree.getClassBody() != null && !around.isEmpty()) {
                String parent = tree.getIdentifier().toString().replaceAll("<.*", "");
                around.peek().parents.add(List.of(parent.split("\\.")));
            }
            return super.visitNewClass(tree, none);
        }

        @Override
        public Void visitMethod(MethodTree tree, Void none) {
            BlockTree body = tree.getBody();
            if (body != null) {
                methodLines.add(Math.max(0, line(end(body)) - line(positions.getStartPosition(file, body)) - 1));
                delegations += isDelegation(tree) ? 1 : 0;
            }
            add(tree, isPublic(tree.getModifiers().getFlags()));
            return super.visitMethod(tree, none);
        }

        private void add(Tree tree, boolean isPublic) {
            DocCommentTree comment = trees.getDocCommentTree(getCurrentPath());
            members.add(new Member(unit, tree, isSeen && isPublic, isPublic, comment));
        }

        private boolean isPublic(Collection<Modifier> modifiers) {
            return modifiers.contains(Modifier.PUBLIC)
                    || modifiers.contains(Modifier.PROTECTED)
                    || isInterface && !modifiers.contains(Modifier.PRIVATE);
        }

        private long end(Tree tree) {
            return positions.getEndPosition(file, tree);
        }

        private int line(long position) {
            return (int) file.getLineMap().getLineNumber(position);
        }

        private static boolean isDelegation(MethodTree method) {
            List<? extends StatementTree> statements = method.getBody().getStatements();
            Tree only = statements.size() == 1 ? statements.get(0) : null;
            if (only instanceof ReturnTree statement) {
                only = statement.getExpression();
            } else if (only instanceof ExpressionStatementTree statement) {
                only = statement.getExpression();
            }
            return only instanceof MethodInvocationTree call
                    && call.getArguments().stream().allMatch(Reader::isNameOrLiteral);
        }

        private static boolean isNameOrLiteral(ExpressionTree tree) {
            return tree instanceof IdentifierTree || tree instanceof MemberSelectTree || tree instanceof LiteralTree;
        }

        @Override
        public Void visitThrow(ThrowTree tree, Void none) {
            if (tree.getExpression() instanceof NewClassTree made) {
                thrown++;
                if (made.getArguments().stream().allMatch(Reader::isText)) {
                    thrownWithoutValue.merge(unit, 1, Integer::sum);
                }
            }
            return super.visitThrow(tree, none);
        }

        private static boolean isText(ExpressionTree tree) {
            return tree instanceof LiteralTree
                    || tree.toString().startsWith("Code.")
                    || tree instanceof BinaryTree sum && isText(sum.getLeftOperand()) && isText(sum.getRightOperand());
        }
    }
}

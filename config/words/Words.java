import com.sun.source.tree.AnnotationTree;
import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.PackageTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.TypeParameterTree;
import com.sun.source.tree.VariableTree;
import com.sun.source.util.DocTrees;
import com.sun.source.util.JavacTask;
import com.sun.source.util.TreePathScanner;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/**
 * Counts the old words of config/words.csv per module and compares the counts with config/words-counts.csv.
 *
 * <pre>
 * java config/words/Words.java                       compares; exits with 1 if a count differs
 * java config/words/Words.java --list MODULE [WORD]  prints where the old words of a module are
 * java config/words/Words.java --shrink              writes smaller counts to the file, never larger ones
 * java config/words/Words.java --move FROM TO        gives counts of one module to another; a sum never grows
 * java config/words/Words.java --add WORD...         writes the counts of words that are new in words.csv
 * </pre>
 *
 * <p>A name is that of a type, a type parameter, a method, a field, a parameter, a local, a record component or a package. It
 * is compared by its segments: {@code chunkPlace} has the segments "chunk" and "place". A text is a Javadoc comment, a
 * Markdown page, or the name of a test, which is a sentence. Code inside a text does not count, nor do the words of
 * docs/decisions. The column {@code where} says what a row applies to:
 *
 * <ul>
 * <li>{@code names}: segments of a name
 * <li>{@code texts}: words of a text
 * <li>{@code everywhere}: both
 * <li>{@code name}: one name as a whole, and the name of its test
 * <li>{@code pages}: sentences of more than 30 words in Markdown pages, outside tables; a span of code is one word
 * <li>{@code tags}: {@code @param}, {@code @return} and {@code @throws} whose text is the name, with or without an article
 * </ul>
 *
 * <p>The column {@code old} separates forms of one word by a slash; a star stands for any end of a word. Each row of
 * config/words-allowed.csv is a name whose segments do not count, in one module or, with a star, in all modules.
 */
final class Words {
    private static final String WORDS = "config/words.csv";
    private static final String ALLOWED = "config/words-allowed.csv";
    private static final String COUNTS = "config/words-counts.csv";
    private static final String SHRINK = "java config/words/Words.java --shrink";
    private static final int SHOWN = 12;

    private static final Pattern BETWEEN_SEGMENTS =
            Pattern.compile("(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[A-Za-z])(?=[0-9])|[^A-Za-z0-9]+");
    /** A mark that ends a phrase is a word too. */
    private static final Pattern BETWEEN_WORDS = Pattern.compile("[^A-Za-z0-9.;:()|]+|(?=[.;:()|])|(?<=[.;:()|])");
    private static final Pattern CODE = Pattern.compile(
            "(?s)```.*?```|`[^`]*`|\\{@(?:code|link|linkplain|value|snippet)\\b[^}]*}|<pre>.*?</pre>|@param \\S+|@throws \\S+|@see \\S+");

    /** Parts of a page that no sentence spans. */
    private static final Pattern BETWEEN_SENTENCES =
            Pattern.compile("(?s)```.*?```|<!--.*?-->|!\\[[^]]*]|\\n(?=\\n)|(?m)^[#|][^\\n]*|^ *(?:[-*>]|[0-9]+\\.) ");

    private static final Pattern LONG_SENTENCE = Pattern.compile("(?:\\S+(?<![.!?][)\"*]{0,2})\\s+){30}\\S+");
    private static final Pattern TAG =
            Pattern.compile("(?s)@(?:param|throws)\\s+(\\S+)\\s+(?:(?:the|an?)\\s+)?(.*?)(?=\\n\\s*@|\\z)");

    private final Path checkout = Path.of("").toAbsolutePath();
    /** By the text of column "old". */
    private final Map<String, Word> words = new LinkedHashMap<>();

    private final List<Allowed> allowed = new ArrayList<>();

    /** One old word; forms are lists of segments in lower case, unless the word is one whole name. */
    private record Word(String old, String where, List<List<String>> forms, List<String> replacements) {
        boolean isFor(boolean text) {
            return where.equals("everywhere") || where.equals(text ? "texts" : "names");
        }

        /** Returns where one of the forms begins in the segments, of which hidden ones do not count. */
        List<Integer> positionsIn(List<String> segments, Set<Integer> hidden) {
            return IntStream.range(0, segments.size())
                    .filter(at -> !hidden.contains(at) && forms.stream().anyMatch(form -> isAt(form, segments, at)))
                    .boxed()
                    .toList();
        }
    }

    private record Allowed(List<String> segments, String module) {}

    private record Found(String module, Word word, Path file, long line, String name) {
        String key() {
            return module + "," + word.old();
        }

        @Override
        public String toString() {
            return file + ":" + line + ": " + name + ": \"" + word.old() + "\" is now "
                    + word.replacements().stream().distinct().collect(Collectors.joining("; "));
        }
    }

    private Words() throws IOException {
        for (List<String> row : rows(WORDS, "old,new,where,why")) {
            String where = row.get(2);
            if (!Set.of("name", "names", "texts", "everywhere", "pages", "tags").contains(where)) {
                throw new IllegalArgumentException(WORDS + ": where is " + where + " in " + row);
            }
            // one word may stand in two rows, once for names and once for texts: each has a count of its own
            String key = where.equals("texts") ? row.get(0) + " (texts)" : row.get(0);
            List<List<String>> forms = new ArrayList<>();
            for (String form : row.get(0).split("/")) {
                forms.add(where.equals("name") ? List.of(form) : List.of(form.toLowerCase(Locale.ROOT).split(" ")));
            }
            words.computeIfAbsent(key, old -> new Word(old, where, forms, new ArrayList<>()))
                    .replacements()
                    .add(row.get(1) + " (" + row.get(3) + ")");
        }
        rows(ALLOWED, "name,module,why").forEach(row -> allowed.add(new Allowed(segments(row.get(0)), row.get(1))));
    }

    public static void main(String[] arguments) throws IOException {
        List<String> left = new ArrayList<>(List.of(arguments));
        Words words = new Words();
        String command = left.isEmpty() ? "" : left.remove(0);
        switch (command) {
            case "" -> System.exit(words.compare());
            case "--list" -> words.list(left);
            case "--shrink" -> words.shrink();
            case "--move" -> words.move(left);
            case "--add" -> words.add(left);
            default -> throw new IllegalArgumentException(command + ": need nothing, --list, --shrink, --move or --add");
        }
    }

    private int compare() throws IOException {
        Map<String, List<Found>> found = byKey();
        Map<String, Integer> counts = counts();
        List<String> problems = new ArrayList<>();
        Set<String> keys = new TreeSet<>(found.keySet());
        keys.addAll(counts.keySet());
        for (String key : keys) {
            int now = found.getOrDefault(key, List.of()).size();
            int before = counts.getOrDefault(key, 0);
            String difference = key + ": " + now + ", and " + COUNTS + " has " + before + ". ";
            if (now > before) {
                problems.add(difference + "Use the new word. The files that changed last are shown first:");
                newestFirst(found.get(key)).limit(SHOWN).forEach(one -> problems.add("  " + one));
            } else if (now < before) {
                problems.add(difference + "Write the smaller count down: " + SHRINK);
            }
        }
        problems.forEach(System.out::println);
        int all = found.values().stream().mapToInt(List::size).sum();
        System.out.println(all + " old words, " + (problems.isEmpty() ? "as in " : "not as in ") + COUNTS);
        return problems.isEmpty() ? 0 : 1;
    }

    private void list(List<String> wanted) throws IOException {
        byKey().values().stream()
                .flatMap(List::stream)
                .filter(one -> one.module().equals(wanted.get(0)))
                .filter(one -> wanted.size() == 1 || one.word().old().equals(wanted.get(1)))
                .forEach(System.out::println);
    }

    private void shrink() throws IOException {
        Map<String, List<Found>> found = byKey();
        Map<String, Integer> counts = counts();
        counts.replaceAll((key, count) ->
                Math.min(count, found.getOrDefault(key, List.of()).size()));
        write(counts);
    }

    private void move(List<String> modules) throws IOException {
        if (modules.size() != 2) {
            throw new IllegalArgumentException("found " + modules + ": need --move FROM TO, two modules");
        }
        Map<String, List<Found>> found = byKey();
        Map<String, Integer> counts = counts();
        for (Word word : words.values()) {
            String from = modules.get(0) + "," + word.old();
            String to = modules.get(1) + "," + word.old();
            int before = counts.getOrDefault(from, 0) + counts.getOrDefault(to, 0);
            int left = found.getOrDefault(from, List.of()).size();
            int arrived = found.getOrDefault(to, List.of()).size();
            if (left + arrived > before) {
                throw new IllegalArgumentException(word.old() + ": " + modules + " have " + (left + arrived) + ", and "
                        + COUNTS + " has " + before + ": use the new word first");
            }
            counts.put(from, left);
            counts.put(to, arrived);
        }
        write(counts);
    }

    private void add(List<String> added) throws IOException {
        Map<String, Integer> counts = counts();
        for (String word : added) {
            if (!words.containsKey(word)) {
                throw new IllegalArgumentException(word + " is not in " + WORDS + "; it has " + words.keySet());
            }
            if (counts.keySet().stream().anyMatch(key -> key.endsWith("," + word))) {
                throw new IllegalArgumentException(word + " has counts already, which only shrink");
            }
        }
        byKey().forEach((key, found) -> {
            if (added.contains(found.get(0).word().old())) {
                counts.put(key, found.size());
            }
        });
        write(counts);
    }

    private Map<String, Integer> counts() throws IOException {
        Map<String, Integer> counts = new TreeMap<>();
        rows(COUNTS, "module,word,count")
                .forEach(row -> counts.put(row.get(0) + "," + row.get(1), Integer.valueOf(row.get(2))));
        return counts;
    }

    private void write(Map<String, Integer> counts) throws IOException {
        List<String> lines = new ArrayList<>(List.of("module,word,count"));
        counts.values().removeIf(count -> count == 0);
        counts.forEach((key, count) -> lines.add(key + "," + count));
        Files.write(checkout.resolve(COUNTS), lines);
        System.out.println(COUNTS + ": " + counts.values().stream().mapToInt(Integer::intValue).sum() + " old words");
    }

    private Stream<Found> newestFirst(List<Found> found) {
        Map<Path, Long> changed = new TreeMap<>();
        found.forEach(one -> changed.computeIfAbsent(
                one.file(), file -> checkout.resolve(file).toFile().lastModified()));
        return found.stream().sorted(Comparator.comparing((Found one) -> -changed.get(one.file())));
    }

    private Map<String, List<Found>> byKey() throws IOException {
        List<Found> found = new ArrayList<>();
        Map<String, List<Path>> sources = new TreeMap<>();
        for (Path file : files()) {
            if (file.toString().endsWith(".md")) {
                inPage(file, found);
            } else {
                sources.computeIfAbsent(module(file), name -> new ArrayList<>()).add(file);
            }
        }
        sources.entrySet().parallelStream()
                .map(module -> inSources(module.getKey(), module.getValue()))
                .toList()
                .forEach(found::addAll);
        return found.stream().collect(Collectors.groupingBy(Found::key, TreeMap::new, Collectors.toList()));
    }

    private void inPage(Path file, List<Found> found) throws IOException {
        String page = Files.readString(checkout.resolve(file));
        String prose = BETWEEN_SENTENCES.matcher(page).replaceAll(Words::blank).replaceAll("`[^`]*`", "code");
        LONG_SENTENCE.matcher(prose).results().forEach(each -> {
            long line = (prose.substring(0, each.start()) + ".").lines().count();
            appliesTo("pages").forEach(word -> found.add(new Found("docs", word, file, line, each.group())));
        });
        String[] lines = CODE.matcher(page).replaceAll(Words::blank).split("\n", -1);
        // a phrase may go on in the next line, so the page is read as one text and the line is found from its segments
        List<String> segments = new ArrayList<>();
        List<Integer> lineOf = new ArrayList<>();
        for (int i = 0; i < lines.length; i++) {
            for (String segment : pieces(BETWEEN_WORDS, lines[i])) {
                segments.add(segment);
                lineOf.add(i + 1);
            }
        }
        for (Word word : words.values()) {
            // decisions keep the words of their time
            if (word.isFor(true) && !file.startsWith("docs/decisions")) {
                for (int at : word.positionsIn(segments, Set.of())) {
                    found.add(new Found("docs", word, file, lineOf.get(at), segments.get(at)));
                }
            }
        }
    }

    private Stream<Word> appliesTo(String where) {
        return words.values().stream().filter(word -> word.where().equals(where));
    }

    /** Returns as many line ends as the match has, so that later lines keep their numbers. */
    private static String blank(MatchResult match) {
        return " . " + "\n".repeat((int) match.group().chars().filter(each -> each == '\n').count());
    }

    private List<Found> inSources(String module, List<Path> files) {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        try (StandardJavaFileManager manager = compiler.getStandardFileManager(null, null, null)) {
            JavacTask task = (JavacTask) compiler.getTask(
                    null,
                    manager,
                    problem -> {},
                    List.of("-proc:none"),
                    null,
                    manager.getJavaFileObjectsFromPaths(
                            files.stream().map(checkout::resolve).toList()));
            DocTrees trees = DocTrees.instance(task);
            Scan scan = new Scan(module, trees);
            for (CompilationUnitTree unit : task.parse()) {
                scan.file = checkout.relativize(Path.of(unit.getSourceFile().toUri()));
                scan.scan(unit, null);
            }
            return scan.found;
        } catch (IOException failure) {
            throw new UncheckedIOException("cannot parse module " + module, failure);
        }
    }

    private final class Scan extends TreePathScanner<Void, Void> {
        private final List<Found> found = new ArrayList<>();
        /** Each package counts once. */
        private final Set<String> packages = new HashSet<>();

        private final String module;
        private final DocTrees trees;
        private Path file;

        Scan(String module, DocTrees trees) {
            this.module = module;
            this.trees = trees;
        }

        @Override
        public Void visitPackage(PackageTree node, Void none) {
            comment(node);
            String name = node.getPackageName().toString();
            if (packages.add(name)) {
                // the packages around it count by themselves
                name(node, name.substring(name.lastIndexOf('.') + 1));
            }
            return super.visitPackage(node, none);
        }

        @Override
        public Void visitClass(ClassTree node, Void none) {
            comment(node);
            name(node, node.getSimpleName().toString());
            return super.visitClass(node, none);
        }

        @Override
        public Void visitMethod(MethodTree node, Void none) {
            comment(node);
            String name = node.getName().toString();
            if (node.getModifiers().getAnnotations().stream().anyMatch(Scan::isOfATest)) {
                text(node, segments(name), name);
            } else if (node.getReturnType() != null) {
                name(node, name);
            }
            return super.visitMethod(node, none);
        }

        @Override
        public Void visitVariable(VariableTree node, Void none) {
            comment(node);
            name(node, node.getName().toString());
            return super.visitVariable(node, none);
        }

        @Override
        public Void visitTypeParameter(TypeParameterTree node, Void none) {
            name(node, node.getName().toString());
            return super.visitTypeParameter(node, none);
        }

        private static boolean isOfATest(AnnotationTree annotation) {
            return annotation.getAnnotationType().toString().matches(".*Test|TestFactory|TestTemplate");
        }

        private void comment(Tree node) {
            String comment = trees.getDocComment(getCurrentPath());
            if (comment != null) {
                text(node, pieces(BETWEEN_WORDS, CODE.matcher(comment).replaceAll(" . ")), "Javadoc");
                String name = node instanceof MethodTree method ? method.getName().toString() : "none";
                long times = TAG.matcher(comment.replace("@return", "@param " + name))
                        .results()
                        .filter(tag -> segments(tag.group(1)).equals(segments(tag.group(2))))
                        .count();
                appliesTo("tags").forEach(word -> add(node, word, (int) times, "Javadoc"));
            }
        }

        private void text(Tree node, List<String> segments, String name) {
            for (Word word : words.values()) {
                if (word.isFor(true)) {
                    add(node, word, word.positionsIn(segments, Set.of()).size(), name);
                }
            }
        }

        private void name(Tree node, String name) {
            List<String> segments = segments(name);
            Set<Integer> hidden = hidden(segments);
            for (Word word : words.values()) {
                if (word.where().equals("name")) {
                    add(node, word, name.equals(word.old()) || name.equals(word.old() + "Test") ? 1 : 0, name);
                } else if (word.isFor(false)) {
                    add(node, word, word.positionsIn(segments, hidden).size(), name);
                }
            }
        }

        private Set<Integer> hidden(List<String> segments) {
            Set<Integer> hidden = new HashSet<>();
            for (Allowed one : allowed) {
                for (int at = 0; at < segments.size(); at++) {
                    if ((one.module().equals("*") || one.module().equals(module)) && isAt(one.segments(), segments, at)) {
                        for (int i = 0; i < one.segments().size(); i++) {
                            hidden.add(at + i);
                        }
                    }
                }
            }
            return hidden;
        }

        private void add(Tree node, Word word, int times, String name) {
            if (times == 0) {
                return;
            }
            CompilationUnitTree unit = getCurrentPath().getCompilationUnit();
            long position = trees.getSourcePositions().getStartPosition(unit, node);
            // the compiler writes parts of records and lambdas that have no position of their own
            long line = position < 0 ? 1 : unit.getLineMap().getLineNumber(position);
            found.addAll(Collections.nCopies(times, new Found(module, word, file, line, name)));
        }
    }

    private static boolean isAt(List<String> form, List<String> segments, int at) {
        boolean isSame = at + form.size() <= segments.size();
        for (int i = 0; i < form.size() && isSame; i++) {
            isSame = isForm(form.get(i), segments.get(at + i));
        }
        return isSame;
    }

    /** Compares a segment with a part of a form, in which a star stands for any end. */
    private static boolean isForm(String part, String segment) {
        return part.endsWith("*") ? segment.startsWith(part.substring(0, part.length() - 1)) : segment.equals(part);
    }

    /** Returns the segments of a name in camel case or in capitals. */
    private static List<String> segments(String name) {
        return pieces(BETWEEN_SEGMENTS, name);
    }

    private static List<String> pieces(Pattern between, String text) {
        return between
                .splitAsStream(text)
                .filter(piece -> !piece.isEmpty())
                .map(piece -> piece.toLowerCase(Locale.ROOT))
                .toList();
    }

    private List<Path> files() throws IOException {
        List<Path> files = new ArrayList<>();
        Files.walkFileTree(checkout, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
                String name = Objects.toString(folder.getFileName(), "");
                boolean left = !folder.equals(checkout)
                        && (name.equals("target")
                                || name.startsWith(".")
                                || folder.endsWith("src/test/resources"));
                return left ? FileVisitResult.SKIP_SUBTREE : FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                Path relative = checkout.relativize(file);
                boolean page = relative.toString().endsWith(".md")
                        && (relative.getNameCount() == 1 || relative.startsWith("docs"));
                if (page || relative.toString().endsWith(".java")) {
                    files.add(relative);
                }
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFileFailed(Path file, IOException failure) {
                // a file that a test beside this one has removed
                return FileVisitResult.CONTINUE;
            }
        });
        files.sort(Comparator.naturalOrder());
        return files;
    }

    /** Returns the folders in front of src, or the first one. */
    private static String module(Path file) {
        for (int i = 1; i < file.getNameCount(); i++) {
            if (file.getName(i).toString().equals("src")) {
                return file.subpath(0, i).toString();
            }
        }
        return file.getName(0).toString();
    }

    private List<List<String>> rows(String name, String head) throws IOException {
        List<String> lines = Files.readAllLines(checkout.resolve(name));
        if (!lines.get(0).equals(head)) {
            throw new IllegalArgumentException(name + " begins with " + lines.get(0) + ", need " + head);
        }
        int columns = head.split(",").length;
        List<List<String>> rows = new ArrayList<>();
        for (String line : lines.subList(1, lines.size())) {
            List<String> cells = List.of(line.split(",", -1));
            if (cells.size() != columns) {
                throw new IllegalArgumentException(
                        name + ": " + cells.size() + " cells, need " + columns + " (" + head + "): " + line);
            }
            rows.add(cells);
        }
        return rows;
    }
}

import com.sun.source.doctree.DocCommentTree;
import com.sun.source.doctree.DocTree;
import com.sun.source.doctree.LinkTree;
import com.sun.source.doctree.LiteralTree;
import com.sun.source.doctree.ParamTree;
import com.sun.source.doctree.ReturnTree;
import com.sun.source.doctree.StartElementTree;
import com.sun.source.doctree.TextTree;
import com.sun.source.doctree.ThrowsTree;
import com.sun.source.doctree.ValueTree;
import com.sun.source.tree.BinaryTree;
import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.ConditionalExpressionTree;
import com.sun.source.tree.ExpressionTree;
import com.sun.source.tree.IdentifierTree;
import com.sun.source.tree.MemberSelectTree;
import com.sun.source.tree.MethodInvocationTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.NewClassTree;
import com.sun.source.tree.PackageTree;
import com.sun.source.tree.ParenthesizedTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.VariableTree;
import com.sun.source.util.DocTrees;
import com.sun.source.util.JavacTask;
import com.sun.source.util.TreePathScanner;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/**
 * Draws sentences for readers and counts where the readers stopped. docs/reading.md describes a reading.
 *
 * <pre>
 * java config/reading/Reading.java draw FOLDER [SEED]
 * java config/reading/Reading.java count KEY ANSWERS ANSWERS [CONTRADICTED]
 * </pre>
 *
 * <p>{@code draw} reads the checkout that it is started in. It writes sheet.txt, key.csv and an empty answers.csv into the
 * folder. The seed is the hash of the commit if none is given. {@code count} prints the stumbles per kind and module, and
 * whether the reading counts; the exit status is 1 if it does not.
 */
final class Reading {
    private static final int JAVADOC = 200;
    private static final int PAGES = 120;
    private static final int MESSAGES = 60;
    private static final int WORDS_OF_A_SENTENCE = 5;
    /** Of a tag with its name; most shorter ones only repeat the name. */
    private static final int WORDS_OF_A_TAG = 9;

    /** Of each reader, for the reading to count. */
    private static final int BAD_STOPPED_AT_LEAST = 16;

    private static final int GOOD_STOPPED_AT_MOST = 2;

    private static final Set<String> PRINTING = Set.of("print", "println", "printf", "log", "warn", "info", "error", "debug");
    private static final Pattern SENTENCE_END =
            Pattern.compile("(?<=[.!?])(?<!e\\.g\\.)(?<!i\\.e\\.)(?<!cf\\.)\\s+(?=[A-Z`(\"<{@])|\\s*\\n\\s*\\n\\s*");

    /** A cell of a row, in group 1 if it is in quotes, else in group 2. */
    private static final Pattern CELL = Pattern.compile("(?<=^|,)(?:\"((?:[^\"]|\"\")*)\"|([^,]*))(?=,|$)");

    /** A sentence with its kind (javadoc, page, message, bad or good), its module and the place it comes from. */
    private record Sentence(String kind, String module, String origin, String text) {}

    private record Answer(boolean stopped, String paraphrase) {}

    public static void main(String[] arguments) throws IOException, InterruptedException {
        List<String> left = List.of(arguments);
        if (left.size() >= 2 && left.size() <= 3 && left.get(0).equals("draw")) {
            draw(Path.of(left.get(1)), left.size() == 3 ? left.get(2) : commit());
        } else if (left.size() >= 4 && left.size() <= 5 && left.get(0).equals("count")) {
            System.exit(count(left.subList(1, left.size())));
        } else {
            System.out.println("need draw FOLDER [SEED], or count KEY ANSWERS ANSWERS [CONTRADICTED]; found " + left);
            System.exit(2);
        }
    }

    private static String commit() throws IOException, InterruptedException {
        if (!git("status", "--porcelain", "--untracked-files=no").isEmpty()) {
            throw new IllegalStateException("the checkout has changes that no commit has: commit them, or give a seed");
        }
        return git("rev-parse", "HEAD");
    }

    private static String git(String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("git"));
        command.addAll(List.of(arguments));
        Process process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        String printed = new String(process.getInputStream().readAllBytes()).strip();
        if (process.waitFor() != 0) {
            throw new IllegalStateException(command + " ended with " + process.exitValue());
        }
        return printed;
    }

    private static void draw(Path folder, String seed) throws IOException {
        List<Sentence> javadoc = new ArrayList<>();
        List<Sentence> messages = new ArrayList<>();
        for (Map.Entry<String, List<Path>> module : sources().entrySet()) {
            inSources(module.getKey(), module.getValue(), javadoc, messages);
        }
        Random random = new Random(number(seed));
        List<Sentence> sheet = new ArrayList<>(sample(javadoc, JAVADOC, random));
        sheet.addAll(sample(inPages(), PAGES, random));
        sheet.addAll(sample(messages, MESSAGES, random));
        rows(Path.of("config/reading/known.csv"), "kind,sentence")
                .forEach(row -> sheet.add(new Sentence(row.get(0), "known", "config/reading/known.csv", row.get(1))));
        Collections.shuffle(sheet, random);
        write(folder, seed, sheet);
    }

    private static void write(Path folder, String seed, List<Sentence> sheet) throws IOException {
        Files.createDirectories(folder);
        List<String> lines = new ArrayList<>();
        List<String> key = new ArrayList<>(List.of("number,kind,module,origin,sentence"));
        List<String> answers = new ArrayList<>(List.of("number,stopped,paraphrase"));
        for (int i = 0; i < sheet.size(); i++) {
            Sentence one = sheet.get(i);
            lines.add((i + 1) + ". " + one.text());
            lines.add("");
            key.add((i + 1) + "," + one.kind() + "," + cell(one.module()) + "," + cell(one.origin()) + "," + cell(one.text()));
            answers.add((i + 1) + ",,");
        }
        Files.write(folder.resolve("sheet.txt"), lines);
        Files.write(folder.resolve("key.csv"), key);
        Files.write(folder.resolve("answers.csv"), answers);
        System.out.println(sheet.size() + " sentences in " + folder + ", seed " + seed);
    }

    /** The same number for the same text on every Java. */
    private static long number(String seed) {
        long number = 0;
        for (char each : seed.toCharArray()) {
            number = 31 * number + each;
        }
        return number;
    }

    /** Returns so many sentences at random, of each module in proportion to how many it has. */
    private static List<Sentence> sample(List<Sentence> all, int limit, Random random) {
        int size = Math.min(limit, all.size());
        Map<String, List<Sentence>> modules =
                all.stream().collect(Collectors.groupingBy(Sentence::module, TreeMap::new, Collectors.toList()));
        Map<String, Integer> sizes = new TreeMap<>();
        modules.forEach((name, some) -> sizes.put(name, (int) ((long) some.size() * size / all.size())));
        // the largest remainders get one more each
        List<String> names = new ArrayList<>(modules.keySet());
        names.sort((a, b) -> Long.compare(
                (long) modules.get(b).size() * size % all.size(), (long) modules.get(a).size() * size % all.size()));
        int missing = size - sizes.values().stream().mapToInt(Integer::intValue).sum();
        names.stream().limit(missing).forEach(name -> sizes.merge(name, 1, Integer::sum));
        List<Sentence> sample = new ArrayList<>();
        modules.forEach((name, some) -> {
            Collections.shuffle(some, random);
            sample.addAll(some.subList(0, sizes.get(name)));
        });
        return sample;
    }

    private static int count(List<String> files) throws IOException {
        Map<Integer, Sentence> key = new TreeMap<>();
        for (List<String> row : rows(Path.of(files.get(0)), "number,kind,module,origin,sentence")) {
            key.put(Integer.valueOf(row.get(0)), new Sentence(row.get(1), row.get(2), row.get(3), row.get(4)));
        }
        List<Map<Integer, Answer>> readers = List.of(
                answers(Path.of(files.get(1)), key.keySet()), answers(Path.of(files.get(2)), key.keySet()));
        Set<Integer> contradicted = new TreeSet<>();
        if (files.size() == 4) {
            Files.readAllLines(Path.of(files.get(3))).stream()
                    .filter(line -> !line.isBlank())
                    .forEach(line -> contradicted.add(Integer.valueOf(line.strip())));
        }
        Map<String, Map<String, int[]>> kinds = new LinkedHashMap<>();
        List<String> stumbles = new ArrayList<>();
        key.forEach((number, one) -> {
            boolean stopped = readers.stream().anyMatch(reader -> reader.get(number).stopped());
            boolean wrong = contradicted.contains(number);
            Map<String, int[]> modules = kinds.computeIfAbsent(one.kind(), kind -> new TreeMap<>());
            for (String name : Set.of(" all", one.module())) {
                int[] figures = modules.computeIfAbsent(name, module -> new int[2]);
                figures[0]++;
                figures[1] += stopped || wrong ? 1 : 0;
            }
            if ((stopped || wrong) && !one.module().equals("known")) {
                stumbles.add(number + " " + (stopped ? "stopped" : "contradicted") + " " + one.origin() + ": " + one.text());
            }
        });
        stumbles.forEach(System.out::println);
        System.out.println("| kind | module | sentences | stumbles | share |\n|---|---|---|---|---|");
        kinds.forEach((kind, modules) -> modules.forEach((module, figures) -> System.out.printf(
                "| %s | %s | %d | %d | %.0f %% |%n",
                kind, module.strip(), figures[0], figures[1], 100.0 * figures[1] / figures[0])));
        return isValid(key, readers) ? 0 : 1;
    }

    private static boolean isValid(Map<Integer, Sentence> key, List<Map<Integer, Answer>> readers) {
        boolean valid = true;
        for (int i = 0; i < readers.size(); i++) {
            Map<Integer, Answer> reader = readers.get(i);
            Map<String, Integer> stops = new TreeMap<>();
            key.forEach((number, one) -> stops.merge(one.kind(), reader.get(number).stopped() ? 1 : 0, Integer::sum));
            int bad = stops.getOrDefault("bad", 0);
            int good = stops.getOrDefault("good", 0);
            boolean counts = bad >= BAD_STOPPED_AT_LEAST && good <= GOOD_STOPPED_AT_MOST;
            valid &= counts;
            System.out.println("reader " + (i + 1) + " stopped at " + bad + " of the bad sentences (need "
                    + BAD_STOPPED_AT_LEAST + ") and at " + good + " of the good ones (at most " + GOOD_STOPPED_AT_MOST
                    + "): " + (counts ? "counts" : "does not count"));
        }
        System.out.println(valid ? "the reading counts" : "the reading does not count");
        return valid;
    }

    private static Map<Integer, Answer> answers(Path file, Set<Integer> numbers) throws IOException {
        Map<Integer, Answer> answers = new TreeMap<>();
        for (List<String> row : rows(file, "number,stopped,paraphrase")) {
            String stopped = row.get(1).strip().toLowerCase();
            if (!Set.of("yes", "no").contains(stopped)) {
                throw new IllegalArgumentException(file + " number " + row.get(0) + ": stopped is \"" + stopped + "\", need yes or no");
            }
            answers.put(Integer.valueOf(row.get(0).strip()), new Answer(stopped.equals("yes"), row.get(2)));
        }
        Set<Integer> missing = new TreeSet<>(numbers);
        missing.removeAll(answers.keySet());
        if (!missing.isEmpty()) {
            throw new IllegalArgumentException(file + " has no answer to " + missing);
        }
        return answers;
    }

    private static Map<String, List<Path>> sources() throws IOException {
        Map<String, List<Path>> sources = new TreeMap<>();
        for (Path file : files(".java")) {
            String path = file.toString();
            int main = path.indexOf("/src/main/java/");
            if (main > 0) {
                sources.computeIfAbsent(path.substring(0, main), name -> new ArrayList<>()).add(file);
            }
        }
        return sources;
    }

    private static List<Path> files(String end) throws IOException {
        try (Stream<Path> files = Files.walk(Path.of(""))) {
            return files.filter(file -> file.toString().endsWith(end))
                    .filter(file -> !("/" + file).matches(".*/(target|\\.[^/]+|resources)/.*"))
                    .sorted()
                    .toList();
        }
    }

    private static List<Sentence> inPages() throws IOException {
        List<Sentence> found = new ArrayList<>();
        for (Path file : files(".md")) {
            boolean page = file.getNameCount() == 1 || file.startsWith("docs") && !file.startsWith("docs/decisions");
            if (!page) {
                continue;
            }
            String text = Files.readString(file).replaceAll("(?s)```.*?```", "\n\n");
            // a cell, an item, a quotation and a heading end a sentence
            text = text.replaceAll("(?s)<!--.*?-->", "")
                    .replaceAll("(?m)^\\|[-:| ]+\\|$", "\n")
                    .replaceAll("(?m)^#+ .*$", "\n")
                    .replaceAll("(?m)^\\s*(?:[-*>]|\\d+\\.)\\s+", "\n\n")
                    .replaceAll("(?m)(?<!\\\\)\\|", "\n\n")
                    .replaceAll("!\\[[^]]*]\\([^)]*\\)", "")
                    .replaceAll("\\[([^]]*)]\\([^)]*\\)", "$1")
                    .replace("**", "");
            for (String sentence : sentences(text)) {
                found.add(new Sentence("page", file.toString(), file.toString(), sentence));
            }
        }
        return found;
    }

    private static List<String> sentences(String text) {
        return SENTENCE_END
                .splitAsStream(text)
                .map(sentence -> sentence.strip().replaceAll("\\s+", " "))
                // mostly code, a number or a name: no sentence
                .filter(sentence -> sentence.replaceAll("`[^`]*`", "").split("[^A-Za-z']+").length >= WORDS_OF_A_SENTENCE)
                .toList();
    }

    private static void inSources(String module, List<Path> files, List<Sentence> javadoc, List<Sentence> messages)
            throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        try (StandardJavaFileManager manager = compiler.getStandardFileManager(null, null, null)) {
            JavacTask task = (JavacTask) compiler.getTask(
                    null, manager, problem -> {}, List.of("-proc:none"), null, manager.getJavaFileObjectsFromPaths(files));
            DocTrees trees = DocTrees.instance(task);
            for (CompilationUnitTree unit : task.parse()) {
                new Scan(module, trees, unit, javadoc, messages).scan(unit, null);
            }
        }
    }

    /** Collects the sentences of one source file. */
    private static final class Scan extends TreePathScanner<Void, Void> {
        private final String module;
        private final DocTrees trees;
        private final CompilationUnitTree unit;
        private final String file;
        private final List<Sentence> javadoc;
        private final List<Sentence> messages;

        Scan(String module, DocTrees trees, CompilationUnitTree unit, List<Sentence> javadoc, List<Sentence> messages) {
            this.module = module;
            this.trees = trees;
            this.unit = unit;
            file = Path.of("").toAbsolutePath().relativize(Path.of(unit.getSourceFile().toUri())).toString();
            this.javadoc = javadoc;
            this.messages = messages;
        }

        @Override
        public Void visitPackage(PackageTree node, Void none) {
            comment(node);
            return super.visitPackage(node, none);
        }

        @Override
        public Void visitClass(ClassTree node, Void none) {
            comment(node);
            return super.visitClass(node, none);
        }

        @Override
        public Void visitMethod(MethodTree node, Void none) {
            comment(node);
            return super.visitMethod(node, none);
        }

        @Override
        public Void visitVariable(VariableTree node, Void none) {
            comment(node);
            return super.visitVariable(node, none);
        }

        @Override
        public Void visitNewClass(NewClassTree node, Void none) {
            String name = node.getIdentifier().toString();
            if (name.endsWith("Exception") || name.endsWith("Error")) {
                node.getArguments().forEach(each -> message(node, each));
            }
            return super.visitNewClass(node, none);
        }

        @Override
        public Void visitMethodInvocation(MethodInvocationTree node, Void none) {
            if (node.getMethodSelect() instanceof MemberSelectTree method
                    && PRINTING.contains(method.getIdentifier().toString())) {
                node.getArguments().forEach(each -> message(node, each));
            }
            return super.visitMethodInvocation(node, none);
        }

        private void comment(Tree node) {
            DocCommentTree comment = trees.getDocCommentTree(getCurrentPath());
            if (comment == null) {
                return;
            }
            List<String> found = new ArrayList<>(sentences(text(comment.getFullBody())));
            List<String> tags = new ArrayList<>();
            for (DocTree tag : comment.getBlockTags()) {
                if (tag instanceof ParamTree param) {
                    tags.addAll(sentences("@param " + param.getName() + " " + text(param.getDescription())));
                } else if (tag instanceof ReturnTree returned) {
                    tags.addAll(sentences("@return " + text(returned.getDescription())));
                } else if (tag instanceof ThrowsTree thrown) {
                    tags.addAll(sentences("@throws " + thrown.getExceptionName() + " " + text(thrown.getDescription())));
                }
            }
            tags.stream().filter(each -> each.split(" ").length >= WORDS_OF_A_TAG).forEach(found::add);
            found.forEach(each -> javadoc.add(new Sentence("javadoc", module, origin(node), each)));
        }

        private static String text(List<? extends DocTree> parts) {
            StringBuilder text = new StringBuilder();
            for (DocTree part : parts) {
                if (part instanceof TextTree plain) {
                    text.append(plain.getBody());
                } else if (part instanceof LiteralTree code) {
                    text.append('`').append(code.getBody().getBody().strip()).append('`');
                } else if (part instanceof LinkTree link) {
                    String label = text(link.getLabel());
                    String name = link.getReference().getSignature().replaceAll("^#", "").replace('#', '.');
                    text.append(label.isBlank() ? "`" + name + "`" : label);
                } else if (part instanceof ValueTree value) {
                    text.append('`').append(value.getReference()).append('`');
                } else if (part instanceof StartElementTree element) {
                    boolean inside = Set.of("i", "b", "em", "code", "sup", "sub", "a").contains(element.getName().toString());
                    text.append(inside ? "" : "\n\n");
                } else if (part.getKind() == DocTree.Kind.ENTITY) {
                    text.append(part);
                }
            }
            return text.toString();
        }

        /** Adds a text with a name in angle brackets for each value that is filled in. */
        private void message(Tree node, ExpressionTree argument) {
            StringBuilder text = new StringBuilder();
            if (append(argument, text)) {
                // a usage text has one fact a line
                for (String line : text.toString().split("\n")) {
                    String stripped = line.strip().replaceAll("\\s+", " ");
                    if (stripped.replaceAll("<[^>]*>", "").split("[^A-Za-z']+").length >= WORDS_OF_A_SENTENCE) {
                        messages.add(new Sentence("message", module, origin(node), stripped));
                    }
                }
            }
        }

        /** Appends an expression; returns whether it has a text of its own. */
        private static boolean append(ExpressionTree part, StringBuilder text) {
            if (part instanceof com.sun.source.tree.LiteralTree literal) {
                text.append(literal.getValue());
                return literal.getValue() instanceof String;
            } else if (part instanceof BinaryTree sum && sum.getKind() == Tree.Kind.PLUS) {
                boolean first = append(sum.getLeftOperand(), text);
                return append(sum.getRightOperand(), text) | first;
            } else if (part instanceof ParenthesizedTree inner) {
                return append(inner.getExpression(), text);
            } else if (part instanceof ConditionalExpressionTree either) {
                return append(either.getTrueExpression(), text);
            } else if (part instanceof MethodInvocationTree call
                    && call.getMethodSelect() instanceof MemberSelectTree method
                    && Set.of("format", "formatted").contains(method.getIdentifier().toString())) {
                return method.getIdentifier().contentEquals("format")
                        ? call.getArguments().stream().anyMatch(each -> each instanceof com.sun.source.tree.LiteralTree && append(each, text))
                        : append(method.getExpression(), text);
            }
            text.append('<').append(name(part)).append('>');
            return false;
        }

        private static String name(ExpressionTree part) {
            ExpressionTree named = part instanceof MethodInvocationTree call ? call.getMethodSelect() : part;
            return named instanceof MemberSelectTree member
                    ? member.getIdentifier().toString()
                    : named instanceof IdentifierTree identifier ? identifier.getName().toString() : "value";
        }

        private String origin(Tree node) {
            long position = trees.getSourcePositions().getStartPosition(unit, node);
            return file + ":" + (position < 0 ? 1 : unit.getLineMap().getLineNumber(position));
        }
    }

    private static String cell(String text) {
        return text.contains(",") || text.contains("\"") ? "\"" + text.replace("\"", "\"\"") + "\"" : text;
    }

    /** Reads the rows of a file with commas; a cell in quotes may have commas, and two quotes for one. */
    private static List<List<String>> rows(Path file, String head) throws IOException {
        List<String> lines = Files.readAllLines(file);
        if (lines.isEmpty() || !lines.get(0).equals(head)) {
            throw new IllegalArgumentException(file + " does not begin with " + head);
        }
        List<List<String>> rows = new ArrayList<>();
        for (String line : lines.subList(1, lines.size())) {
            if (line.isBlank()) {
                continue;
            }
            List<String> cells = cells(line);
            if (cells.size() != head.split(",").length) {
                throw new IllegalArgumentException(file + ": " + cells.size() + " cells, need " + head + ": " + line);
            }
            rows.add(cells);
        }
        return rows;
    }

    private static List<String> cells(String line) {
        return CELL.matcher(line)
                .results()
                .map(cell -> cell.group(1) == null ? cell.group(2) : cell.group(1).replace("\"\"", "\""))
                .toList();
    }
}

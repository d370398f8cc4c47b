package ferro.tck;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class ContractPageTest {
    private static final Path PAGE = Path.of("..", "docs", "contract.md");

    @Test
    void rulesInCodeAndOnThePageAreEqual() throws IOException {
        assertEquals(rulesOfCode(), rulesOfPage(), "rules by number: code (expected) and docs/contract.md");
    }

    @Test
    void everyTestOfTheContractHasARule() {
        List<String> without = new ArrayList<>();
        for (Method method : BackendContract.class.getMethods()) {
            boolean test = method.getDeclaringClass().getPackage() == BackendContract.class.getPackage()
                    && method.getDeclaringClass().getSimpleName().endsWith("Rules")
                    && !method.isSynthetic();
            if (test && method.getAnnotation(Rule.class) == null) {
                without.add(method.getName());
            }
        }
        assertTrue(without.isEmpty(), "tests without a rule: " + without);
    }

    @Test
    void everyRefusalIsOnThePageWithItsConstant() throws IOException, IllegalAccessException {
        String page = Files.readString(PAGE);
        int named = 0;
        List<Field> texts = Stream.of(BackendContract.class.getFields())
                .filter(field -> field.getType() == String.class)
                .toList();
        for (Field field : texts) {
            String row = "| `" + field.get(null) + "` | `" + field.getName() + "` |";
            assertTrue(page.contains(row), "docs/contract.md has no row beginning with " + row);
            named++;
        }
        assertEquals(13, named, "refusals of the kit");
    }

    @Test
    void thePageNamesTheRulesOnDevices() throws IOException {
        Matcher sentence =
                Pattern.compile("The rules ([^.]*?) use device tensors").matcher(Files.readString(PAGE));
        assertTrue(sentence.find(), "docs/contract.md names no rules on devices");
        Set<Integer> named = new TreeSet<>();
        Matcher range = Pattern.compile("(\\d+)(?: to (\\d+))?").matcher(sentence.group(1));
        while (range.find()) {
            int last = Integer.parseInt(range.group(range.group(2) == null ? 1 : 2));
            IntStream.rangeClosed(Integer.parseInt(range.group(1)), last)
                    .filter(rulesOfCode()::containsKey)
                    .forEach(named::add);
        }

        assertEquals(new TreeSet<>(BackendContract.ON_DEVICES), named);
    }

    private static Map<Integer, String> rulesOfCode() {
        Map<Integer, String> rules = new TreeMap<>();
        for (Method method : BackendContract.class.getMethods()) {
            Rule rule = method.getAnnotation(Rule.class);
            if (rule != null) {
                String before = rules.put(rule.value(), method.getName());
                assertEquals(null, before, "two tests have rule " + rule.value());
            }
        }
        return rules;
    }

    /** Rows look like {@code | 101 | rule | intent | `test` |}; a rule without a test says "not tested". */
    private static Map<Integer, String> rulesOfPage() throws IOException {
        Map<Integer, String> rules = new TreeMap<>();
        for (String line : Files.readAllLines(PAGE)) {
            String[] cells = line.split("\\|");
            if (cells.length >= 5 && cells[1].strip().matches("\\d+") && cells[4].contains("`")) {
                rules.put(Integer.valueOf(cells[1].strip()), cells[4].strip().replace("`", ""));
            }
        }
        return rules;
    }
}

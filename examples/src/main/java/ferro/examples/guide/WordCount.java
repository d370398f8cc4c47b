package ferro.examples.guide;

import static java.util.stream.Collectors.joining;

import ferro.group.Codec;
import ferro.group.GroupObjects;
import ferro.group.ProcessGroup;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/** Counts words: each rank counts words of a text, and then gets the counts of the words that belong to it. */
final class WordCount {
    private static final String TEXT = "to be or not to be that is the question to do is to be";

    private static final Codec<Map<String, Integer>> COUNTS = Codec.utf8()
            .map(
                    counts -> counts.entrySet().stream().map(Object::toString).collect(joining(" ")),
                    line -> Stream.of(line.split(" "))
                            .filter(pair -> !pair.isEmpty())
                            .map(pair -> pair.split("="))
                            .<Map<String, Integer>>map(pair -> Map.of(pair[0], Integer.valueOf(pair[1])))
                            .reduce(Map.of(), WordCount::sum));

    private static Map<String, Integer> sum(Map<String, Integer> one, Map<String, Integer> other) {
        Map<String, Integer> sum = new TreeMap<>(one);
        other.forEach((word, count) -> sum.merge(word, count, Integer::sum));
        return sum;
    }

    public static void main(String[] arguments) {
        try (ProcessGroup group = ProcessGroup.join()) {
            int ranks = group.worldSize();
            List<Map<String, Integer>> byOwner = Stream.generate(
                            () -> (Map<String, Integer>) new TreeMap<String, Integer>())
                    .limit(ranks)
                    .toList();
            String[] words = TEXT.split(" ");
            for (int i = group.rank(); i < words.length; i += ranks) {
                byOwner.get(words[i].length() % ranks).merge(words[i], 1, Integer::sum);
            }
            GroupObjects<Map<String, Integer>> counts = group.objects(COUNTS);
            Map<String, Integer> own = counts.allToAll(byOwner).stream().reduce(Map.of(), WordCount::sum);
            System.out.println("own words " + own);
            counts.reduce(own, WordCount::sum, 0) // empty on other ranks than rank 0
                    .ifPresent(all -> System.out.println("all words " + all));
        }
    }
}

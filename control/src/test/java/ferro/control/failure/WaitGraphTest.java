package ferro.control.failure;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The ranks that keep other ranks waiting. */
class WaitGraphTest {
    private final Map<Integer, BitSet> waits = new HashMap<>();
    private final List<Integer> asked = new ArrayList<>();
    private final BitSet any = new BitSet();
    private final WaitGraph graph = new WaitGraph(
            rank -> {
                asked.add(rank);
                return waits.getOrDefault(rank, new BitSet());
            },
            any::get);

    /** In {@code 1>2,3} rank 1 waits for both ranks 2 and 3, in {@code 1>2/3} for any one of them. */
    @ParameterizedTest(name = "{0}")
    @CsvSource(
            delimiter = '|',
            nullValues = "-",
            value = {
                "a chain ends at the rank that waits for none  | 5>3 3>8                     | 5   | 8     | -       | -",
                "chains that part have an end each             | 1>2,3 3>4,6 6>7 9>7         | 1   | 2,4,7 | -       | -",
                "another chain ends there too                  | 1>2,3 3>4,6 6>7 9>7         | 9   | 7     | -       | -",
                "several chains have all ends                  | 1>2,3 3>4,6 6>7 9>7         | 1,9 | 2,4,7 | -       | -",
                "a rank that waits for a cycle is not on it    | 9>1 1>2 2>3 3>1             | 9   | -     | 1,2,3   | 1,2,3,9",
                "a cycle with a way out has an end             | 1>2 2>1,6                   | 1   | 6     | 1,2     | 1,2",
                "a rank between two cycles is on none          | 1>2 2>1,3 3>4 4>5 5>4       | 1   | -     | 1,2,4,5 | 1,2,3,4,5",
                "the second cycle is found from between        | 1>2 2>1,3 3>4 4>5 5>4       | 3   | -     | 4,5     | 3,4,5",
                "cycles with a rank in common are one          | 1>2,3 2>1 3>4 4>1           | 2   | -     | 1,2,3,4 | 1,2,3,4",
                "a rank that waits for itself is a cycle       | 4>4                         | 4   | -     | 4       | 4",
                "an unknown rank ends its chain                | 0>70000                     | 0   | 70000 | -       | -",
                "an unknown rank is an end                     | -                           | 17  | 17    | -       | -",
                "no rank has no end                            | 0>70000                     | -   | -     | -       | -",
                "any of two ranks, one of which is free        | 1>2/3 2>1/3                 | 1   | 3     | 1,2     | -",
                "any of two ranks, both of which are stuck     | 1>2/3 2>1/3 3>1             | 1   | -     | 1,2,3   | 1,2,3",
                "any of two ranks, one of which has a way out  | 1>2/3 2>1/3 3>1/4           | 1   | 4     | 1,2,3   | -",
                "all of two ranks, one of which is stuck       | 1>2,5 2>3 3>2 4>1/5         | 1   | 5     | 2,3     | 1,2,3",
                "any of a stuck rank and a free one            | 1>2,5 2>3 3>2 4>1/5         | 4   | 5     | 2,3     | 1,2,3",
                "a free rank is not stuck                      | 1>2,5 2>3 3>2 4>1/5         | 5   | 5     | -       | -",
            })
    void theGraphFindsEndsCyclesAndStuckRanks(
            String name, String edges, String from, String ends, String cycles, String stuck) {
        for (String edge : edges == null ? new String[0] : edges.split(" ")) {
            String[] sides = edge.split(">");
            any.set(Integer.parseInt(sides[0]), sides[1].contains("/"));
            waits.put(Integer.valueOf(sides[0]), ranks(sides[1].replace('/', ',')));
        }

        assertEquals(ranks(ends), graph.ends(ranks(from)));
        assertEquals(ranks(cycles), graph.cycles(ranks(from)));
        assertEquals(ranks(stuck), graph.stuck(ranks(from)));
    }

    @Test
    void onlyReachableRanksAreAskedAndArgumentsStayUnchanged() {
        waits.putAll(Map.of(1, ranks("2,5"), 2, ranks("1"), 3, ranks("1")));
        BitSet first = ranks("1");

        graph.ends(first);
        graph.cycles(first);

        assertEquals(ranks("1,2,5"), graph.reachedFrom(first));
        assertEquals(false, asked.contains(3), asked::toString);
        assertEquals(ranks("1"), first);
        assertEquals(Map.of(1, ranks("2,5"), 2, ranks("1"), 3, ranks("1")), waits);
    }

    private static BitSet ranks(String ranks) {
        BitSet set = new BitSet();
        Stream.of(ranks == null ? new String[0] : ranks.split(",")).forEach(rank -> set.set(Integer.parseInt(rank)));
        return set;
    }
}

package ferro.training.agreement;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Description of the tensors that differ between ranks, and of the ranks on which they differ. */
public final class TensorComparer {
    private static final int MAX_NAMED = 10;

    private TensorComparer() {}

    /**
     * Compares the tensors of all ranks.
     *
     * @param all description of each tensor on each rank that must hold the tensor, by name and rank
     * @return number of tensors that differ, and the first ten of them; empty if no tensor differs
     */
    public static String of(Map<String, Map<Integer, String>> all) {
        List<String> differing = new ArrayList<>();
        all.forEach((name, byRank) -> {
            Map<String, List<Integer>> ranks = new LinkedHashMap<>();
            byRank.forEach((rank, text) ->
                    ranks.computeIfAbsent(text, each -> new ArrayList<>()).add(rank));
            if (ranks.size() > 1) {
                differing.add("\"" + name + "\" is " + texts(ranks));
            }
        });
        if (differing.isEmpty()) {
            return "";
        }
        int named = Math.min(MAX_NAMED, differing.size());
        return differing.size() + " of " + all.size() + " tensors: " + String.join("; ", differing.subList(0, named))
                + (named < differing.size() ? "; and " + (differing.size() - named) + " more" : "");
    }

    /** Describes a tensor. The value that most ranks have comes first. */
    private static String texts(Map<String, List<Integer>> ranks) {
        return ranks.entrySet().stream()
                .sorted((one, other) -> other.getValue().size() - one.getValue().size())
                .map(one -> one.getKey() + " on " + (one.getValue().size() == 1 ? "rank " : "ranks ")
                        + one.getValue().stream().map(String::valueOf).collect(Collectors.joining(", ")))
                .collect(Collectors.joining(", but "));
    }
}

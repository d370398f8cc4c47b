package ferro.training;

import ferro.HostTensor;
import ferro.Tensor;
import ferro.group.ProcessGroup;
import ferro.training.agreement.TensorComparer;
import ferro.training.agreement.TensorHasher;
import ferro.training.agreement.TextComparer;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Copies of the same tensors on all ranks. The methods of this class make the copies equal, or check that the copies
 * are equal.
 *
 * <p>{@link #broadcast} and {@link #checkEqual} are collectives. All ranks call these methods in the same order
 * relative to other calls of the group. In {@link #checkEqual} ranks may pass different sets of tensors.
 */
public final class Replicas {
    private static final String LINE_END = "\u0000";
    private static final String NAME_END = "\u0001";

    private final ProcessGroup group;

    private Replicas(ProcessGroup group) {
        this.group = group;
    }

    /**
     * Creates an object that handles the replicas of a group.
     *
     * @param group ranks that have copies of the same tensors
     * @return replicas
     */
    public static Replicas of(ProcessGroup group) {
        return new Replicas(Objects.requireNonNull(group, "group"));
    }

    /**
     * Copies the tensors of the root to every rank. All copies are in flight together, as in
     * {@link ProcessGroup#coalesced}.
     *
     * @param tensors tensors that are read on the root and written on the other ranks; every rank passes the same types
     *     and lengths in the same order
     * @param root rank whose elements are copied
     * @throws ferro.InvalidRankException if {@code root} is not a rank of the group
     * @throws IllegalArgumentException if the memory of two tensors overlaps and the group fuses their copies
     * @throws IllegalStateException if the group is closed
     * @throws ferro.FerroException if the group fails or has failed; MISMATCH if types, lengths or numbers of tensors
     *     differ
     */
    public void broadcast(List<? extends Tensor> tensors, int root) {
        Objects.requireNonNull(tensors, "tensors")
                .forEach(tensor -> Objects.requireNonNull(tensor, "a tensor of tensors"));
        group.coalesced(() -> tensors.forEach(tensor -> group.broadcast(tensor, root)));
    }

    /**
     * Checks that all ranks have the same tensors, with the same bits. If the tensors are equal, the check costs one
     * pass over the tensors and one all-gather of 32 bytes per rank. If tensors differ, all ranks also gather a hash of
     * each tensor.
     *
     * @param tensors tensors by name
     * @throws IllegalStateException if a tensor differs or is missing on a rank. The exceptions of all ranks have the
     *     same text, which names tensors and ranks, and the group stays usable. This exception is also thrown if the
     *     group is closed
     * @throws ferro.FerroException if the group fails or has failed
     */
    public void checkEqual(Map<String, HostTensor> tensors) {
        Map<String, String> own = new TreeMap<>();
        Objects.requireNonNull(tensors, "tensors")
                .forEach((name, tensor) ->
                        own.put(name, TensorHasher.text(Objects.requireNonNull(tensor, "a tensor of tensors"))));
        String text = own.entrySet().stream()
                .map(one -> one.getKey() + NAME_END + one.getValue() + LINE_END)
                .collect(Collectors.joining());
        List<String> texts = TextComparer.differing(group, "tensors of replicas", text);
        if (!texts.isEmpty()) {
            throw new IllegalStateException("replicas differ in " + TensorComparer.of(byName(texts)));
        }
    }

    /** Returns for each tensor name the text of each rank; the text is "missing" on a rank without that tensor. */
    private static Map<String, Map<Integer, String>> byName(List<String> texts) {
        Map<String, Map<Integer, String>> all = new TreeMap<>();
        for (int rank = 0; rank < texts.size(); rank++) {
            for (String line : texts.get(rank).split(LINE_END)) {
                int end = line.lastIndexOf(NAME_END);
                if (end >= 0) {
                    all.computeIfAbsent(line.substring(0, end), name -> new TreeMap<>())
                            .put(rank, line.substring(end + 1));
                }
            }
        }
        for (Map<Integer, String> byRank : all.values()) {
            for (int rank = 0; rank < texts.size(); rank++) {
                byRank.putIfAbsent(rank, "missing");
            }
        }
        return all;
    }
}

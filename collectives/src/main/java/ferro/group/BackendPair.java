package ferro.group;

import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.Supplier;

/**
 * The names of two back ends, one for host tensors and one for device tensors: {@code cpu:tcp,cuda:nccl}, in any order.
 * {@code hip} means the same as {@code cuda}.
 *
 * @param host   back end for host tensors, bytes and barriers
 * @param device back end for device tensors, which has an NCCL view
 */
record BackendPair(String host, String device) {
    private static final Map<String, String> PLACES = Map.of("cpu", "cpu", "cuda", "cuda", "hip", "cuda");

    static boolean isPair(String text) {
        return text.indexOf(':') >= 0;
    }

    /**
     * Parses a pair.
     *
     * @param text  value of {@code ferro.backend}
     * @param found list of the back ends that were found, for messages
     * @throws IllegalArgumentException if {@code text} is not one name for {@code cpu} and one for {@code cuda}
     */
    static BackendPair of(String text, Supplier<String> found) {
        Map<String, String> names = new HashMap<>();
        for (String part : text.split(",", -1)) {
            int colon = part.indexOf(':');
            String place = part.substring(0, Math.max(0, colon)).trim().toLowerCase(Locale.ROOT);
            String name = part.substring(colon + 1).trim();
            if (colon < 0 || name.isEmpty() || !PLACES.containsKey(place)) {
                throw refused(text, "\"" + part.trim() + "\" is not KIND:NAME with kind cpu, cuda or hip", found);
            }
            if (names.put(PLACES.get(place), name) != null) {
                throw refused(text, "\"" + place + "\" has two names", found);
            }
        }
        if (names.size() < 2) {
            throw refused(text, "one of cpu and cuda has no name", found);
        }
        if (names.get("cpu").equals(names.get("cuda"))) {
            throw refused(text, "cpu and cuda both name \"" + names.get("cpu") + "\"", found);
        }
        return new BackendPair(names.get("cpu"), names.get("cuda"));
    }

    private static IllegalArgumentException refused(String text, String why, Supplier<String> found) {
        return new IllegalArgumentException(
                "-Dferro.backend=" + text + ": " + why + "; found: " + found.get()
                        + ": name one back end for cpu and one for cuda, as in cpu:tcp,cuda:nccl, or one back end without a kind");
    }
}

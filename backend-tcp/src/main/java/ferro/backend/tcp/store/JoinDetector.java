package ferro.backend.tcp.store;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Detects from the keys of a store that every rank of the job has joined one group. A rank that has joined has
 * published its {@link Roster.RankEntry}, for which the rank needs the secret. Used on the store's loop, except for
 * {@link #allJoined}.
 */
public final class JoinDetector {
    private static final Pattern CARD = Pattern.compile("((.*)/\\d+)/card/(\\d+)");

    private final Optional<String> name;
    private final int worldSize;
    private final Map<String, Set<String>> shown = new HashMap<>();
    private final CompletableFuture<Void> allJoined = new CompletableFuture<>();

    /** Creates a detector for the first group that all ranks join, of any name. */
    public JoinDetector(int worldSize) {
        this(Optional.empty(), worldSize);
    }

    JoinDetector(String name, int worldSize) {
        this(Optional.of(name), worldSize);
    }

    private JoinDetector(Optional<String> name, int worldSize) {
        this.name = name;
        this.worldSize = worldSize;
    }

    /** Records that a key of the store was set. An empty value means that the rank has left. */
    public void set(String key, byte[] value) {
        Matcher card = CARD.matcher(key);
        if (allJoined.isDone() || !card.matches() || !name.orElse(card.group(2)).equals(card.group(2))) {
            return;
        }
        Set<String> ranks = shown.computeIfAbsent(card.group(1), group -> new HashSet<>());
        if (value.length == 0) {
            ranks.remove(card.group(3));
        } else {
            ranks.add(card.group(3));
        }
        if (ranks.size() == worldSize) {
            allJoined.complete(null);
            shown.clear();
        }
    }

    /** Returns a stage that completes when all ranks have joined. If a rank is missing, the stage never completes. */
    public CompletionStage<Void> allJoined() {
        return allJoined;
    }
}

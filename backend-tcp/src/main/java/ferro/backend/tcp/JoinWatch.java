package ferro.backend.tcp;

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
 * Sees in what a store is told that every rank of the job has joined one group: each has shown its {@link Roster.Card}, for
 * which it had to know the secret. On the store's loop, but for {@link #allJoined}.
 */
final class JoinWatch {
    private static final Pattern CARD = Pattern.compile("((.*)/\\d+)/card/(\\d+)");

    private final Optional<String> name;
    private final int worldSize;
    private final Map<String, Set<String>> shown = new HashMap<>();
    private final CompletableFuture<Void> allJoined = new CompletableFuture<>();

    /** Watches for whichever group is the first. */
    JoinWatch(int worldSize) {
        this(Optional.empty(), worldSize);
    }

    /** Watches for the group of this name. */
    JoinWatch(String name, int worldSize) {
        this(Optional.of(name), worldSize);
    }

    private JoinWatch(Optional<String> name, int worldSize) {
        this.name = name;
        this.worldSize = worldSize;
    }

    /** Takes note of a key; an empty card is that of a rank that has left. */
    void set(String key, byte[] value) {
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

    CompletionStage<Void> allJoined() {
        return allJoined;
    }
}

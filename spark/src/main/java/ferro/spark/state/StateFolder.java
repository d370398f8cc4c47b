package ferro.spark.state;

import ferro.training.checkpoint.CheckpointStorage;
import ferro.training.checkpoint.StoredObject;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What one attempt of a job writes into the folder of checkpoints, under names that no other attempt has.
 *
 * <p>An attempt is called {@code 4-9f3a12cd}: one more than the greatest number in the folder, and a nonce. It writes
 * {@code step-12-4-9f3a12cd/rank-3}, and {@code latest-4-9f3a12cd.txt}, which names the latest step. The {@code latest} of the
 * greatest number counts. An attempt begins by publishing what it found, so that nothing that an older one publishes later counts.
 */
final class StateFolder {
    /** Name of the folder of a step; its groups are the number of the attempt, and the nonce. */
    static final String STEP = "step-[0-9]{1,18}-([0-9]{1,18})-([0-9a-f]{8})";

    private static final Pattern OBJECT = Pattern.compile(STEP + "/rank-[0-9]+");
    private static final Pattern PUBLISHED = Pattern.compile("latest-(([0-9]{1,18})-[0-9a-f]{8})[.]txt");
    private static final int MOST = 128;

    private final CheckpointStorage storage;
    private final String attempt;
    private final Latest latest;

    StateFolder(CheckpointStorage storage, String attempt, Latest latest) {
        this.storage = storage;
        this.attempt = attempt;
        this.latest = latest;
    }

    /** Takes a name that is greater than those of all attempts before, and publishes under it what they have. */
    static StateFolder claimed(CheckpointStorage storage) throws IOException {
        long greatest = 0;
        Latest found = Latest.NONE;
        for (StoredObject one : storage.list("latest-")) {
            Matcher name = PUBLISHED.matcher(one.name());
            long number = name.matches() ? Long.parseLong(name.group(2)) : 0;
            // two of one number have begun at once: one of them never gets on
            if (number > 0 && number >= greatest) {
                Latest other = read(storage, one.name());
                found = number > greatest ? other : newer(found, other);
                greatest = number;
            }
        }
        int nonce = ThreadLocalRandom.current().nextInt();
        String attempt = greatest + 1 + "-" + HexFormat.of().toHexDigits(nonce);
        StateFolder folder = new StateFolder(storage, attempt, found);
        folder.publish(found);
        return folder;
    }

    private static Latest newer(Latest one, Latest other) {
        return List.of(one, other).stream()
                .max(Comparator.comparingLong(Latest::step))
                .orElseThrow();
    }

    private static Latest read(CheckpointStorage storage, String name) throws IOException {
        ByteBuffer text = ByteBuffer.allocate(MOST);
        storage.read(name, 0, text);
        return Latest.of(new String(text.array(), 0, text.position(), StandardCharsets.US_ASCII), storage);
    }

    /** The name of the attempt. */
    String attempt() {
        return attempt;
    }

    /** What attempts before have published. */
    Latest latest() {
        return latest;
    }

    /** Returns the folder of a step of this attempt. */
    String ofStep(long step) {
        return "step-" + step + "-" + attempt;
    }

    /** Returns whether this attempt wrote the folder of a step; null for none. */
    boolean wrote(String step) {
        return step != null && step.endsWith("-" + attempt);
    }

    /** Names the latest step. */
    void publish(Latest step) throws IOException {
        storage.publish("latest-" + attempt + ".txt", step.text().getBytes(StandardCharsets.US_ASCII));
    }

    /** Deletes what attempts with smaller numbers have left, but the folder of one step; null for none. */
    void deleteOlder(String kept) throws IOException {
        long own = Long.parseLong(attempt.substring(0, attempt.indexOf('-')));
        for (StoredObject one : storage.list("")) {
            Matcher object = OBJECT.matcher(one.name());
            Matcher published = PUBLISHED.matcher(one.name());
            boolean older = object.matches() && Long.parseLong(object.group(1)) < own
                    || published.matches() && Long.parseLong(published.group(2)) < own;
            if (older && !(kept != null && one.name().startsWith(kept + "/"))) {
                storage.delete(one.name());
            }
        }
    }
}

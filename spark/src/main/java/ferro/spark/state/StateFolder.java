package ferro.spark.state;

import ferro.training.checkpoint.CheckpointStorage;
import ferro.training.checkpoint.StoredObject;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * What one attempt of a job writes into the folder of checkpoints, under names that no other attempt has.
 *
 * <p>An attempt is called {@code 4-9f3a12cd}: one more than the greatest number in the folder, and a nonce. It writes
 * {@code step-12-4-9f3a12cd/rank-3}, and {@code latest-4-9f3a12cd.txt}, which names the latest step. The {@code latest} of the
 * greatest attempt counts. An attempt begins by publishing what it found. From then on no older attempt saves, so that none
 * deletes what the new one has found.
 */
final class StateFolder {
    /** Name of the folder of a step; its groups are the number of the attempt, and the nonce. */
    static final String STEP = "step-[0-9]{1,18}-([0-9]{1,18})-([0-9a-f]{8})";

    private static final Pattern OBJECT = Pattern.compile(STEP + "/rank-[0-9]+");
    private static final Pattern PUBLISHED = Pattern.compile("latest-([0-9]{1,18})-([0-9a-f]{8})[.]txt");
    private static final int MOST = 128;

    private final CheckpointStorage storage;
    private final Attempt attempt;
    private final Latest latest;

    private StateFolder(CheckpointStorage storage, Attempt attempt, Latest latest) {
        this.storage = storage;
        this.attempt = attempt;
        this.latest = latest;
    }

    /** Returns the folder of an attempt that rank 0 has begun, with what it found. */
    static StateFolder of(CheckpointStorage storage, String attempt, Latest found) {
        String[] parts = attempt.split("-");
        return new StateFolder(storage, new Attempt(Long.parseLong(parts[0]), parts[1]), found);
    }

    /** Takes a name that is greater than those of all attempts before, and publishes under it what they have. */
    static StateFolder claimed(CheckpointStorage storage) throws IOException {
        Optional<Attempt> before = attempts(storage).max(Comparator.naturalOrder());
        String nonce = HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextInt());
        Attempt own = new Attempt(before.map(Attempt::number).orElse(0L) + 1, nonce);
        Latest found = foundBefore(own, storage);
        StateFolder folder = new StateFolder(storage, own, found);
        folder.publish(found);
        // one that still runs may have saved since, and deleted what was found; its next save finds this attempt
        Latest since = foundBefore(own, storage);
        if (!since.equals(found)) {
            folder.publish(since);
        }
        return new StateFolder(storage, own, since);
    }

    /** The number of an attempt; the nonce tells those apart that have begun at once. */
    private record Attempt(long number, String nonce) implements Comparable<Attempt> {
        @Override
        public int compareTo(Attempt other) {
            return number == other.number ? nonce.compareTo(other.nonce) : Long.compare(number, other.number);
        }

        @Override
        public String toString() {
            return number + "-" + nonce;
        }

        String latest() {
            return "latest-" + this + ".txt";
        }
    }

    private static Stream<Attempt> attempts(CheckpointStorage storage) throws IOException {
        return storage.list("latest-").stream()
                .map(object -> PUBLISHED.matcher(object.name()))
                .filter(Matcher::matches)
                .map(name -> new Attempt(Long.parseLong(name.group(1)), name.group(2)));
    }

    private static Latest foundBefore(Attempt own, CheckpointStorage storage) throws IOException {
        Optional<Attempt> last =
                attempts(storage).filter(one -> one.compareTo(own) < 0).max(Comparator.naturalOrder());
        return last.isPresent() ? read(storage, last.get().latest()) : Latest.NONE;
    }

    /** Refuses to save once a later attempt has begun, which does not see it. */
    void checkLast() throws IOException {
        Attempt last = attempts(storage).max(Comparator.naturalOrder()).orElse(attempt);
        if (last.compareTo(attempt) > 0) {
            throw new IOException("attempt " + attempt + " cannot save in " + storage + ": attempt " + last
                    + " has begun since; name a folder for each job");
        }
    }

    private static Latest read(CheckpointStorage storage, String name) throws IOException {
        ByteBuffer text = ByteBuffer.allocate(MOST);
        storage.read(name, 0, text);
        return Latest.of(new String(text.array(), 0, text.position(), StandardCharsets.US_ASCII), storage);
    }

    /** The name of the attempt. */
    String attempt() {
        return attempt.toString();
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
        storage.publish(attempt.latest(), step.text().getBytes(StandardCharsets.US_ASCII));
    }

    /** Deletes what attempts with smaller numbers have left, but the folder of one step; null for none. */
    void deleteOlder(String kept) throws IOException {
        for (StoredObject one : storage.list("")) {
            Matcher object = OBJECT.matcher(one.name());
            Matcher published = PUBLISHED.matcher(one.name());
            boolean older = object.matches() && Long.parseLong(object.group(1)) < attempt.number()
                    || published.matches() && Long.parseLong(published.group(1)) < attempt.number();
            if (older && !(kept != null && one.name().startsWith(kept + "/"))) {
                storage.delete(one.name());
            }
        }
    }
}

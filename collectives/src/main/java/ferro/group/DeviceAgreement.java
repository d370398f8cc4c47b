package ferro.group;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.Store;
import ferro.spi.Deadlines;
import ferro.spi.GroupSpec;
import ferro.spi.Settings;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;

/**
 * SubgroupAgreement of the ranks of a group that is joined by {@code auto} on a back end for device tensors. Each rank records in
 * the store which back end it would open, or that it has none. Only ranks that would open one read the entries of the
 * others.
 *
 * <p>The agreement runs before any back end is opened, so that the back end of the host, which all ranks join, keeps rank
 * 0 and its store alive meanwhile. The key has no count of joins, because that would cost ranks without devices a round
 * trip. A rank that joins again overwrites its entry.
 *
 * @param group   group to join
 * @param context context with the store
 */
record DeviceAgreement(GroupSpec group, JoiningContext context) {
    private static final String NONE = "none";

    /**
     * Records that this rank has none, and does not wait. If no store can be opened, nothing is recorded: a back end that
     * needs a store meets the same failure and reports it.
     */
    void sayNone() {
        context.storeIfAny().ifPresent(store -> say(store, NONE));
    }

    /**
     * Records the back end that this rank would open and reads the entries of the others.
     *
     * @param mine kind and name
     * @return reason why it must not be opened, as text; empty if all ranks would open the same
     * @throws FerroException RENDEZVOUS naming the ranks that have recorded nothing by the deadline of joining
     */
    Optional<String> objection(String mine) {
        long until = System.nanoTime() + Deadlines.nanos(Deadlines.ofJoin(group, context));
        Store store = context.store();
        say(store, mine);
        List<CompletableFuture<byte[]>> words = new ArrayList<>();
        for (int rank = 0; rank < group.worldSize(); rank++) {
            words.add(store.when(key(rank)).toCompletableFuture());
        }
        List<Integer> none = new ArrayList<>();
        List<String> others = new ArrayList<>();
        for (int rank = 0; rank < words.size(); rank++) {
            String word = await(words, rank, until);
            if (word.equals(NONE)) {
                none.add(rank);
            } else if (!word.equals(mine)) {
                others.add("rank " + rank + " would open " + word);
            }
        }
        if (!none.isEmpty()) {
            others.add(0, ranks(none) + " of " + group.worldSize() + " has none that is usable");
        }
        return others.isEmpty() ? Optional.empty() : Optional.of(String.join(", ", others));
    }

    private void say(Store store, String word) {
        store.set(key(group.rank()), word.getBytes(StandardCharsets.UTF_8));
    }

    private String key(int rank) {
        return "auto/" + Settings.JOB_ID.of(context) + "/" + group.name() + "/" + rank;
    }

    private String await(List<CompletableFuture<byte[]>> words, int rank, long untilNanos) {
        try {
            long left = Math.max(0, untilNanos - System.nanoTime());
            return new String(words.get(rank).get(left, TimeUnit.NANOSECONDS), StandardCharsets.UTF_8);
        } catch (TimeoutException late) {
            throw silent(words, late);
        } catch (ExecutionException lost) {
            throw failure(Where.outside(group.name(), group.rank()), "the store failed: " + lost.getCause(), lost);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new FerroException(
                    Code.INTERRUPTED,
                    Where.outside(group.name(), group.rank()),
                    prefix() + "interrupted while waiting for rank " + rank,
                    interrupted);
        }
    }

    private FerroException silent(List<CompletableFuture<byte[]>> words, Exception cause) {
        List<Integer> silent = new ArrayList<>();
        for (int rank = 0; rank < words.size(); rank++) {
            if (!words.get(rank).isDone()) {
                silent.add(rank);
            }
        }
        String blamed = silent.stream().map(String::valueOf).collect(Collectors.joining(","));
        Duration waited = Deadlines.ofJoin(group, context);
        return failure(
                Where.outside(group.name(), group.rank()).blaming(blamed),
                ranks(silent) + " of " + group.worldSize() + " has not said within " + Deadlines.millis(waited)
                        + " ms whether it has a back end for device tensors: either it did not start, or it was started"
                        + " with a back end by name: see whether it runs, and give all ranks the same ferro.backend",
                cause);
    }

    private FerroException failure(Where where, String what, Exception cause) {
        return new FerroException(Code.RENDEZVOUS, where, prefix() + what, cause);
    }

    private String prefix() {
        return "joining \"" + group.name() + "\" as rank " + group.rank() + " by -D" + Settings.BACKEND.name()
                + "=auto: ";
    }

    private static String ranks(List<Integer> ranks) {
        return "rank " + ranks.stream().map(String::valueOf).collect(Collectors.joining(","));
    }
}
